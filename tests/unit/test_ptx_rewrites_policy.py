"""Cache policy and non-coherent loads: what is offered where, and how it is spelled."""

from collections.abc import Mapping

import pytest
from tests.helpers.rewriting import body_of, values

from burnish.model.control import Choice, Risk, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.rewrites import noncoherent, policy

POINTERS = """
    ld.param.u64 %rd1, [a]; cvta.to.global.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [b]; cvta.to.global.u64 %rd2, %rd2;
"""
LAST: dict[str, Value] = {
    "ptx.loads.cache": "L1::evict_last",
    "ptx.stores.cache": "wt",
    "ptx.copies.cache": "ca",
}
WIDE: dict[str, Value] = {"ptx.loads.prefetch": "L2::128B", "ptx.copies.prefetch": "L2::256B"}
NC: dict[str, Value] = {"ptx.loads.noncoherent": True}


def rewritten(code: str, config: Mapping[str, Value]) -> str:
    """What becomes of the last statement but one."""
    draft = Draft(body_of(f"{POINTERS} {code} ret;"))
    policy.apply(draft, config)
    noncoherent.apply(draft, config)
    number = len(draft.body.statements) - 2
    return draft.texts.get(number, draft.body.statements[number].text)


def offered(body: Body) -> dict[str, tuple[Value, ...]]:
    """The values of every control."""
    found = {}
    for control in policy.controls(body):
        assert isinstance(control.domain, Choice)
        found[control.name] = control.domain.values
    return found


@pytest.mark.parametrize(
    ("code", "config", "expected"),
    [
        ("ld.global.f32 %f1, [%rd1];", {}, "ld.global.f32 %f1, [%rd1];"),
        ("ld.global.f32 %f1, [%rd1];", LAST, "ld.global.L1::evict_last.f32 %f1, [%rd1];"),
        (
            "@%p1 ld.weak.global.nc.v2.f32 {%f1, %f2}, [%rd1];",
            LAST | WIDE,
            "@%p1 ld.weak.global.nc.L1::evict_last.L2::128B.v2.f32 {%f1, %f2}, [%rd1];",
        ),
        (
            "ld.global.L1::evict_first.L2::cache_hint.L2::64B.b32 %r1, [%rd1], %rd3;",
            LAST | WIDE,
            "ld.global.L1::evict_last.L2::cache_hint.L2::128B.b32 %r1, [%rd1], %rd3;",
        ),
        ("ld.global.cs.f32 %f1, [%rd1];", LAST, "ld.global.L1::evict_last.f32 %f1, [%rd1];"),
        (
            "ld.global.f32 %f1, [%rd1];",
            {"ptx.loads.cache": "cg"} | WIDE,
            "ld.global.cg.L2::128B.f32 %f1, [%rd1];",
        ),
        ("st.global.v2.f32 [%rd1], {%f1, %f2};", LAST, "st.global.wt.v2.f32 [%rd1], {%f1, %f2};"),
        (
            "cp.async.cg.shared.global [%r1], [%rd1], 16;",
            LAST | WIDE,
            "cp.async.ca.shared.global.L2::256B [%r1], [%rd1], 16;",
        ),
        (
            "cp.async.cg.shared::cta.global.L2::cache_hint.L2::128B [%r1], [%rd1], 16, %rd3;",
            WIDE,
            "cp.async.cg.shared::cta.global.L2::cache_hint.L2::256B [%r1], [%rd1], 16, %rd3;",
        ),
        ("ld.weak.global.f32 %f1, [%rd1];", NC, "ld.global.nc.f32 %f1, [%rd1];"),
        (
            "ld.global.v2.f32 {%f1, %f2}, [%rd1];",
            NC | LAST | WIDE,
            "ld.global.nc.L1::evict_last.L2::128B.v2.f32 {%f1, %f2}, [%rd1];",
        ),
        (
            "ld.global.f32 %f1, [%rd1];",
            NC | {"ptx.load[0].cache": "ca"},
            "ld.global.ca.nc.f32 %f1, [%rd1];",
        ),
    ],
)
def test_hints_stand_where_the_grammar_wants_them(
    code: str, config: Mapping[str, Value], expected: str
) -> None:
    assert rewritten(code, config) == expected


@pytest.mark.parametrize(
    "code",
    [
        "ld.volatile.global.f32 %f1, [%rd1];",
        "ld.relaxed.gpu.global.f32 %f1, [%rd1];",
        "ld.acquire.sys.global.f32 %f1, [%rd1];",
        "ld.global.cv.f32 %f1, [%rd1];",
        "ld.global.cg.f32 %f1, [%rd1];",
        "ld.shared.f32 %f1, [%r1];",
        "ld.f32 %f1, [%rd1];",
        "ldu.global.f32 %f1, [%rd1];",
        "atom.global.add.f32 %f1, [%rd1], %f2;",
        "st.global.wt.f32 [%rd1], %f1;",
        "st.release.gpu.global.f32 [%rd1], %f1;",
        "{ ld.global.f32 %f1, [%rd1]; }",
        "ld.global /* why */ .f32 %f1, [%rd1];",
    ],
)
def test_other_accesses_are_left_alone(code: str) -> None:
    assert rewritten(code, LAST | WIDE | NC) == code
    assert policy.controls(body_of(f"{POINTERS} {code} ret;")) == ()


def test_each_site_offers_what_differs_from_what_is_written() -> None:
    found = offered(
        body_of(
            """
            ld.global.f32 %f1, [%rd1]; ld.global.nc.f32 %f2, [%rd1];
            ld.global.cs.f32 %f3, [%rd1]; ld.global.L1::evict_last.L2::128B.f32 %f4, [%rd1];
            st.global.f32 [%rd1], %f1; cp.async.ca.shared.global [%r1], [%rd1], 8; ret;
            """
        )
    )
    evictions = ("L1::no_allocate", "L1::evict_first", "L1::evict_last", "L1::evict_unchanged")
    widths = ("L2::64B", "L2::128B", "L2::256B")
    assert found["ptx.load[0].cache"] == ("kernel", "plain", *evictions, "cg", "ca")
    assert found["ptx.load[1].cache"] == ("kernel", "plain", *evictions)
    cleared = (evictions[0], evictions[2], evictions[3], "L1::evict_normal")
    assert found["ptx.load[2].cache"] == ("kernel", "plain", *cleared, "cg", "ca")
    assert "L1::evict_last" not in found["ptx.load[3].cache"]
    assert found["ptx.load[3].prefetch"] == ("kernel", "plain", "L2::64B", "L2::256B")
    assert found["ptx.loads.prefetch"] == ("plain", *widths)
    assert found["ptx.store[0].cache"] == ("kernel", "plain", *evictions, "cg", "wb", "wt")
    assert "ptx.store[0].prefetch" not in found
    assert "ptx.copies.cache" not in found  # .cg copies 16 bytes, no fewer
    assert found["ptx.copy[0].prefetch"] == ("kernel", "plain", *widths)


@pytest.mark.parametrize(
    ("version", "target", "expected"),
    [
        ("7.3", "sm_90", ("plain", "cg", "ca")),
        ("7.4", "sm_60", ("plain", "cg", "ca")),
        ("7.4", "sm_70", ("plain", "L1::no_allocate")),
    ],
)
def test_hints_need_a_version_and_an_architecture(
    version: str, target: str, expected: tuple[str, ...]
) -> None:
    body = body_of("ld.global.f32 %f1, [%rd1]; ret;", version=version, target=target)
    assert offered(body)["ptx.loads.cache"][: len(expected)] == expected
    assert "ptx.loads.prefetch" not in offered(body)


def test_wide_prefetches_need_a_newer_architecture() -> None:
    body = body_of("ld.global.f32 %f1, [%rd1]; ret;", target="sm_75")
    assert offered(body)["ptx.loads.prefetch"] == ("plain", "L2::64B", "L2::128B")


def test_a_site_may_differ_from_the_kernel() -> None:
    draft = Draft(body_of("ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1]; ret;"))
    policy.apply(draft, {"ptx.loads.cache": "cg", "ptx.load[1].cache": "plain"})
    assert list(draft.texts.values()) == ["ld.global.cg.f32 %f1, [%rd1];"]


def test_defaults_change_nothing() -> None:
    draft = Draft(body_of(f"{POINTERS} ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1; ret;"))
    policy.apply(draft, values(policy.controls(draft.body)))
    noncoherent.apply(draft, values(noncoherent.controls(draft.body)))
    assert draft.texts == {}


def test_a_prefetch_writes_nothing() -> None:
    code = "prefetch.global.L2 [%rd1]; ld.global.f32 %f1, [%rd1];"
    assert noncoherent.controls(body_of(f"{POINTERS} {code} ret;"))


def test_what_a_noncoherent_load_needs_is_said() -> None:
    body = body_of(f"{POINTERS} ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2+4]; ret;")
    kernel, one, other = noncoherent.controls(body)
    assert (kernel.default, one.default, kernel.risk) == (False, "kernel", Risk.CONDITIONAL)
    assert (one.name, other.name) == ("ptx.load[0].noncoherent", "ptx.load[1].noncoherent")
    assert noncoherent.requires(body, {}) == ()
    assert noncoherent.requires(body, {other.name: True}) == (1,)
    assert noncoherent.requires(body, {kernel.name: True}) == (0, 1)
    assert noncoherent.requires(body, {kernel.name: True, one.name: False}) == (1,)


@pytest.mark.parametrize(
    "code",
    [
        "ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1+4], %f1;",
        "ld.global.f32 %f1, [%rd1]; atom.global.add.f32 %f2, [%rd1], %f1;",
        "ld.global.f32 %f1, [%rd1]; st.f32 [%rd1], %f1;",
        "ld.global.f32 %f1, [%rd1]; add.s64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;",
        "ld.global.f32 %f1, [%rd1]; { red.global.add.f32 [%rd1], %f1; }",
        "ld.global.f32 %f1, [%rd1]; griddepcontrol.wait;",
        "ld.global.f32 %f1, [%rd1]; { call.uni f; }",
        "ld.global.nc.f32 %f1, [%rd1];",
        "add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3];",
        "ld.global.b64 %rd3, [array]; ld.global.f32 %f1, [%rd3];",
    ],
)
def test_where_it_may_be_wrong_a_load_stays_coherent(code: str) -> None:
    assert noncoherent.controls(body_of(f"{POINTERS} {code} ret;")) == ()

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.acf.model import Acf, Evidence, Launch, Shape, Tuned, TunedCode, WorkloadEvidence
from burnish.acf.read import load_bytes, read
from burnish.acf.write import dump
from burnish.errors import AcfError
from burnish.model.frozen import FrozenMap
from burnish.model.verdict import Outcome

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
RATIO = st.floats(min_value=1e-6, max_value=1e6)
INTEGER = st.integers(-(2**63) + 1, 2**63 - 1)
NAME = st.text(string.ascii_letters + string.digits + "_$", min_size=1, max_size=20)
COMPILER = st.builds(
    "{} {}".format,
    st.sampled_from(["ptxas", "gcc"]),
    st.from_regex(r"[0-9]{1,2}(\.[0-9]{1,3}){0,2}", fullmatch=True),
)
OPTIONS = st.lists(TEXT, max_size=4).map(tuple)
VALUE = st.booleans() | INTEGER | NUMBER | st.text(st.characters(exclude_categories=["Cs"]))


def ordered(values: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(values, values).map(lambda pair: (min(pair), max(pair)))


INTERVAL = st.tuples(RATIO, RATIO).map(lambda pair: (min(pair), max(pair)))
AXIS = st.none() | ordered(st.integers(1, 2**31 - 1))
SHAPE = st.builds(
    Shape,
    st.tuples(AXIS, AXIS, AXIS),
    st.dictionaries(st.integers(0, 4095), ordered(INTEGER), max_size=3).map(
        lambda spans: tuple(sorted(spans.items()))
    ),
).filter(lambda shape: shape != Shape())
LAUNCH = st.builds(
    Launch,
    st.none() | st.integers(1, 64),
    st.none() | st.integers(0, 2**31 - 1),
    st.none() | st.tuples(*[st.integers(1, 64)] * 3),
    st.none() | st.tuples(st.integers(0, 2**40), st.sampled_from([1, 16, 128])),
).filter(lambda launch: launch != Launch())
WORKLOAD = st.builds(WorkloadEvidence, TEXT, RATIO, INTERVAL, st.booleans())
OPTIONAL = st.just("") | TEXT


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    measured = draw(st.booleans())
    return Evidence(
        verdict=draw(st.sampled_from([o for o in Outcome if o is not Outcome.WRONG])),
        metric=draw(TEXT),
        baseline=draw(NUMBER),
        tuned=draw(NUMBER),
        ratio=draw(RATIO) if measured else None,
        interval=draw(INTERVAL) if measured else None,
        reason=draw(OPTIONAL),
        figures=FrozenMap(draw(st.dictionaries(TEXT, st.tuples(NUMBER, NUMBER), max_size=3))),
        workloads=tuple(draw(st.lists(WORKLOAD, max_size=2))),
        rounds=draw(st.integers(0, 2**63 - 1)),
        regime=draw(st.sampled_from(["", "cold", "warm"])),
        device=draw(OPTIONAL),
        driver=draw(OPTIONAL),
        date=draw(st.sampled_from(["", "2026-11-30", "2026-11-30T00:00:00Z"])),
        study=draw(OPTIONAL),
        burnish=draw(OPTIONAL),
    )


@st.composite
def blocks(draw: st.DrawFn, *, strict: bool) -> Tuned:
    pair = ordered(st.integers(0, 4095)).filter(lambda pair: pair[0] < pair[1])
    return Tuned(
        key=draw(st.sampled_from(["ptx:", "c:"])) + draw(HEX),
        entry=draw(NAME),
        arch=draw(st.sampled_from(["sm_90", "sm_100f", "x86_64"])),
        baseline_compiler=draw(COMPILER),
        baseline_options=draw(OPTIONS),
        code=TunedCode(
            compiler=draw(COMPILER),
            options=draw(OPTIONS),
            binary_sha256=draw((st.just("") | HEX) if strict else HEX),
            ptx=draw(st.text(st.characters(exclude_categories=["Cs"]))),
            opaque=draw(st.binary()),
        ),
        controls=FrozenMap(draw(st.dictionaries(TEXT, VALUE, max_size=4))),
        evidence=draw((st.none() | evidence()) if strict else evidence()),
        disjoint=tuple(draw(st.lists(pair, max_size=3))),
        shapes=tuple(draw(st.lists(SHAPE, max_size=2))),
        launch=draw(st.none() | LAUNCH),
    )


@st.composite
def acfs(draw: st.DrawFn) -> Acf:
    strict = draw(st.booleans())
    return Acf(tuple(draw(st.lists(blocks(strict=strict), min_size=1, max_size=3))), strict)


@pytest.mark.slow
@settings(deadline=None)
@given(acfs())
def test_what_is_written_reads_back_the_same_to_the_type_of_every_value(acf: Acf) -> None:
    text = dump(acf)
    back = read(text, "k.acf")
    assert back == acf
    assert repr(back.tuned[0].controls) == repr(acf.tuned[0].controls)
    assert dump(back) == text


@pytest.mark.slow
@settings(deadline=None)
@given(acfs(), st.data())
def test_a_damaged_file_is_read_or_refused_but_never_crashes(acf: Acf, data: st.DataObject) -> None:
    raw = bytearray(dump(acf).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    assert said_about(bytes(raw)).count("\n") == 0


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert said_about(data).startswith("k.acf")


def said_about(data: bytes) -> str:
    try:
        load_bytes(data, "k.acf")
    except AcfError as error:
        return str(error)
    return "k.acf is fine"

"""The rule for candidates that may round differently: right ones pass, wrong ones do not."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from tests.helpers.array_device import Arguments, ArrayDevice, Function

from burnish.bundle.dtypes import DTYPES, decode, encode
from burnish.errors import LaunchError
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.model.workload import Buffer, Role, Workload
from burnish.verify.examiner import Examiner
from burnish.verify.oracle import Reference, Value
from burnish.verify.paper import Plan

CHECKS = 1000
FILLS = ("normal", "uniform(0, 1)", "uniform(0.5, 1)")


def sum_of(fill: str, rows: int, terms: int, dtype: str = "f32", out: str = "") -> Workload:
    x = Buffer("x", dtype, (terms, rows), Role.IN, fill)
    return Workload("sum", (x, Buffer("out", out or dtype, (rows,), Role.OUT)))


def in_order(order: NDArray[np.int64], blocks: int, dtype: str = "f32", out: str = "") -> Function:
    """A sum by blocks, one after the other within each, in an order of its own.

    What is narrower than float32 is summed in float32, as kernels do.
    """

    def kernel(given: Arguments) -> None:
        terms = given["x"][order]
        if dtype not in {"f32", "f64"}:
            terms = decode(terms, DTYPES[dtype]).astype(np.float32)
        parts = terms.reshape(blocks, len(order) // blocks, -1)
        total = np.add.reduce(np.add.reduce(parts, axis=1), axis=0)
        given["out"][...] = encode(total, DTYPES[out or dtype])

    return kernel


def exact(values: Mapping[str, Value]) -> object:
    x = values["x"]
    assert isinstance(x, np.ndarray)
    return x.sum(axis=0, dtype=np.longdouble)


def drops_a_term(order: NDArray[np.int64], blocks: int) -> Function:
    """The same sum without its last term: an error of one part in its length."""

    def kernel(given: Arguments) -> None:
        terms = given["x"][order]
        terms[-1] = 0
        parts = terms.reshape(blocks, len(order) // blocks, -1)
        given["out"][...] = np.add.reduce(np.add.reduce(parts, axis=1), axis=0)

    return kernel


def refusals(workload: Workload, reference: Reference | None, rng: Generator, checks: int) -> int:
    """How many of that many re-associated sums are refused."""
    shape, dtype = workload.arguments[0].shape, workload.arguments[0].dtype  # type: ignore[union-attr]
    device, count = ArrayDevice(), 0
    plain = device.program(in_order(np.arange(shape[0]), 16, dtype))
    bench = Examiner(device, plain, (workload,), Plan(reference=reference))
    for _ in range(checks):
        blocks = int(rng.choice([16, 32]))
        candidate = device.program(in_order(rng.permutation(shape[0]), blocks, dtype))
        count += not bench.examine(candidate, Risk.ROUNDING).is_right
    return count


@pytest.mark.slow
@pytest.mark.parametrize("with_reference", [True, False], ids=["reference", "weaker"])
def test_no_reassociated_sum_is_refused(*, with_reference: bool) -> None:
    reference = exact if with_reference else None
    rng, kinds = default_rng(7), [(1, 4096), (1, 512), (5, 1024), (60, 512), (2000, 64)]
    each = CHECKS // (len(kinds) * len(FILLS) * 2) + 1
    refused = [
        (dtype, fill, rows, terms, count)
        for dtype in ("f32", "f64")
        for fill in FILLS
        for rows, terms in kinds
        if (count := refusals(sum_of(fill, rows, terms, dtype), reference, rng, each))
    ]
    assert not refused


@pytest.mark.parametrize("with_reference", [True, False], ids=["reference", "weaker"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f8e4m3", "f8e5m2"])
def test_no_reassociated_sum_of_a_narrow_type_is_refused(
    dtype: str, *, with_reference: bool
) -> None:
    reference, rng = exact if with_reference else None, default_rng(8)
    for rows in (1, 40, 3000):
        assert refusals(sum_of("normal", rows, 256, dtype), reference, rng, 10) == 0


@pytest.mark.parametrize("with_reference", [True, False], ids=["reference", "weaker"])
@pytest.mark.parametrize("rows", [5, 300, 2000])
@pytest.mark.parametrize("fill", FILLS)
def test_a_dropped_term_is_always_found(fill: str, rows: int, *, with_reference: bool) -> None:
    workload, device = sum_of(fill, rows, 1024), ArrayDevice()
    plain = device.program(in_order(np.arange(1024), 16))
    plan = Plan(reference=exact if with_reference else None)
    bench = Examiner(device, plain, (workload,), plan)
    rng = default_rng(9)
    for _ in range(3):
        program = device.program(drops_a_term(rng.permutation(1024), 16))
        finding = bench.examine(program, Risk.ROUNDING)
        assert finding.status is Status.WRONG
        assert "too far off" in finding.message


def test_what_was_demanded_is_said() -> None:
    workload, device = sum_of("normal", 100, 256), ArrayDevice()
    plain = device.program(in_order(np.arange(256), 16))
    other = device.program(in_order(np.arange(256)[::-1], 16))
    strong = Examiner(device, plain, (workload,), Plan(reference=exact))
    weak = Examiner(device, plain, (workload,), Plan())
    assert strong.examine(other, Risk.ROUNDING).message == (
        "same bits, or within 1.5 × the baseline's own error against the reference"
    )
    assert "weaker: there is no --reference" in weak.examine(other, Risk.ROUNDING).message
    assert strong.examine(other).status is Status.WRONG
    assert strong.examine(plain).message == "same bits as the plain kernel"


def test_less_precise_arithmetic_is_refused_with_a_reference() -> None:
    workload, device = sum_of("normal", 5000, 256), ArrayDevice()
    bench = Examiner(
        device, device.program(in_order(np.arange(256), 16)), (workload,), Plan(reference=exact)
    )

    def half(given: Arguments) -> None:
        given["out"][...] = given["x"].astype(np.float16).sum(axis=0, dtype=np.float32)

    finding = bench.examine(device.program(half), Risk.ROUNDING)
    assert finding.status is Status.WRONG
    assert "1.5 × the baseline's own error against the reference" in finding.message


def test_a_candidate_that_may_round_must_still_repeat() -> None:
    workload, device = sum_of("normal", 100, 256), ArrayDevice()
    bench = Examiner(
        device, device.program(in_order(np.arange(256), 16)), (workload,), Plan(reference=exact)
    )
    rng = default_rng(3)

    def racy(given: Arguments) -> None:
        in_order(rng.permutation(256), 16)(given)

    finding = bench.examine(device.program(racy), Risk.ROUNDING)
    assert finding.status is Status.UNSTABLE
    assert "other bits on each launch with the same inputs" in finding.message


@pytest.mark.parametrize("with_reference", [True, False], ids=["reference", "weaker"])
def test_a_plain_kernel_that_does_not_repeat_is_held_against_its_error(
    *, with_reference: bool
) -> None:
    workload, device, rng = sum_of("normal", 100, 1024), ArrayDevice(), default_rng(4)

    def atomics(given: Arguments) -> None:
        in_order(rng.permutation(1024), 16)(given)

    plan = Plan(reference=exact if with_reference else None)
    bench = Examiner(device, device.program(atomics), (workload,), plan)
    for demand in (Risk.EXACT, Risk.ROUNDING):
        finding = bench.examine(device.program(atomics), demand)
        assert finding.is_right
        assert finding.message.endswith("the plain kernel is not repeatable itself")
    assert "the baseline is not repeatable" in bench.notes[0]
    wrong = drops_a_term(np.arange(1024), 16)
    assert bench.examine(device.program(wrong)).status is Status.WRONG


def test_after_timing_the_same_rule_holds_and_the_session_can_be_used_on() -> None:
    workload, device = sum_of("normal", 3, 256), ArrayDevice()
    plain = device.program(in_order(np.arange(256), 16))
    other = device.program(in_order(np.arange(256)[::-1], 16))
    for reference in (exact, None):
        bench = Examiner(device, plain, (workload,), Plan(reference=reference))
        session = bench.session("sum")
        for _ in range(2):
            session.launch(other)
            assert bench.left_behind("sum", Risk.ROUNDING, session).is_right
            session.launch(plain)
            assert bench.left_behind("sum", Risk.EXACT, session).is_right
        session.launch(device.program(drops_a_term(np.arange(256), 16)))
        assert not bench.left_behind("sum", Risk.ROUNDING, session).is_right


def test_a_plain_kernel_that_rarely_differs_is_found_out_late_and_judged_anew() -> None:
    workload, device, launches = sum_of("normal", 100, 1024), ArrayDevice(), iter(range(10**6))

    def rare(given: Arguments) -> None:
        order, launch = np.arange(1024), next(launches)
        in_order(order[::-1] if launch > 80 and launch % 14 == 0 else order, 16)(given)

    bench = Examiner(device, device.program(rare), (workload,), Plan())
    bench.prepare()
    assert not bench.notes
    for _ in range(40):
        assert bench.examine(device.program(rare)).is_right or bench.notes
    assert "the baseline is not repeatable" in bench.notes[0]
    assert bench.examine(device.program(rare)).is_right


def test_a_tolerance_holds_only_where_bits_may_differ() -> None:
    x = Buffer("x", "f32", (64, 8), Role.IN, "uniform(1, 2)")
    workload = Workload("w", (x, Buffer("out", "f32", (8,), Role.OUT, tolerance=0.01)))
    device = ArrayDevice()
    plain = device.program(in_order(np.arange(64), 16))
    bench = Examiner(device, plain, (workload,), Plan())

    def near(given: Arguments) -> None:
        in_order(np.arange(64), 16)(given)
        given["out"][...] *= np.float32(1.004)

    assert bench.examine(device.program(near), Risk.ROUNDING).is_right
    assert bench.examine(device.program(near)).status is Status.WRONG


def wrong_reference(answer: object, workload: Workload) -> str:
    device = ArrayDevice()
    plain = device.program(in_order(np.arange(256), 16))

    def reference(_: Mapping[str, Value]) -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(LaunchError) as caught:
        Examiner(device, plain, (workload,), Plan(reference=reference)).prepare()
    return str(caught.value)


def test_a_reference_that_means_something_else_is_refused() -> None:
    workload = sum_of("normal", 100, 256)
    said = wrong_reference(np.ones(100), workload)
    assert "the plain kernel's 'out' is off by" in said
    assert "they do not mean the same" in said
    said = wrong_reference(np.ones(99), workload)
    assert "the reference's 'out' has the shape [99], not [100]" in said
    assert "says nothing of buffer 'out'; it has: y" in wrong_reference({"y": 1}, workload)
    assert "raised on workload 'sum': KeyError: 'z'" in wrong_reference(KeyError("z"), workload)
    assert "is no array: could not convert" in wrong_reference("text", workload)

"""Hostile kernels as functions: each is refused for the right reason, neighbours unharmed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.array_device import Arguments, ArrayDevice, Function, ResidentSession

from burnish.errors import DeviceError, LaunchError, UsageError
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.model.workload import Argument, Buffer, Role, Scalar, Workload
from burnish.verify.examiner import Examiner
from burnish.verify.judge import Finding
from burnish.verify.paper import Plan

X = Buffer("x", "f32", (64, 33), Role.IN, "normal")
IX = Buffer("ix", "i32", (64,), Role.IN, "integers(0, 64)")
OUT = Buffer("out", "f32", (64, 33), Role.OUT)
COUNT = Buffer("count", "i32", (64,), Role.OUT)
SUM = Buffer("sum", "f32", (33,), Role.INOUT, "uniform(0, 1)")
GATHER = Workload("gather", (X, IX, OUT, COUNT, SUM, Scalar("a", "f32", 2.0)))


def gather(given: Arguments) -> None:
    given["out"][...] = given["x"][given["ix"]] * np.float32(given.numbers["a"])
    given["count"][...] = np.bincount(given["ix"], minlength=64)
    given["sum"][...] += given["x"].sum(axis=0)


@pytest.fixture(params=[False, True], ids=["host", "resident"])
def device(request: pytest.FixtureRequest) -> ArrayDevice:
    return ArrayDevice(resident=request.param)


def examiner(device: ArrayDevice, *workloads: Workload) -> Examiner:
    return Examiner(device, device.program(gather), workloads or (GATHER,), Plan())


def after(change: Callable[[Arguments], None]) -> Function:
    """A kernel that computes the right thing and then spoils it."""

    def spoiled(given: Arguments) -> None:
        gather(given)
        change(given)

    return spoiled


def every(period: int, change: Callable[[Arguments], None], start: int = 0) -> Function:
    """A kernel that is spoiled every so many launches."""
    launches = iter(range(start, 10**9))

    def spoiled(given: Arguments) -> None:
        gather(given)
        if next(launches) % period == period - 1:
            change(given)

    return spoiled


def find(device: ArrayDevice, function: Function, demand: Risk = Risk.EXACT) -> Finding:
    bench = examiner(device)
    finding = bench.examine(device.program(function), demand)
    assert bench.examine(device.program(gather)).is_right, "a neighbour was harmed"
    return finding


def test_the_plain_kernel_is_right_and_the_message_says_what_was_demanded(
    device: ArrayDevice,
) -> None:
    bench = examiner(device)
    for demand in Risk:
        finding = bench.examine(device.program(gather), demand)
        assert finding.is_right
    assert bench.examine(device.program(gather)) == Finding(
        Status.OK, "same bits as the plain kernel"
    )
    assert bench.examine(device.program(gather), is_final=True).is_right
    assert not bench.notes


def spoil_out(value: float) -> Callable[[Arguments], None]:
    def change(given: Arguments) -> None:
        given["out"][3, 17] = value

    return change


def test_one_wrong_element_is_named_with_its_place_and_values(device: ArrayDevice) -> None:
    finding = find(device, after(spoil_out(1.25)))
    assert finding.status is Status.WRONG
    assert finding.message.startswith("out: 1 of 2112 elements differs, first at [3, 17]: 1.25 ")
    assert finding.message.endswith("(workload gather, inputs 0)")


def test_a_share_of_wrong_elements_is_given_in_percent(device: ArrayDevice) -> None:
    def change(given: Arguments) -> None:
        given["out"][::4, 2] = 7

    assert "out: 0.758 % of elements differ, first at [0, 2]: 7 instead of" in (
        find(device, after(change)).message
    )


def write_before(given: Arguments) -> None:
    place = given.places["out"]
    given.memory["out"][place.data_offset - 4 : place.data_offset] = 0


def write_behind(given: Arguments) -> None:
    end = given.places["out"].data_offset + given.places["out"].data_bytes
    given.memory["out"][end : end + 4] = 0


def write_behind_an_input(given: Arguments) -> None:
    end = given.places["x"].data_offset + given.places["x"].data_bytes
    given.memory["x"][end + 8] = 0


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (write_before, "4 bytes round out changed, the nearest 1 bytes before its start"),
        (write_behind, "4 bytes round out changed, the nearest 0 bytes behind its end"),
        (write_behind_an_input, "1 bytes round x changed, the nearest 8 bytes behind its end"),
    ],
)
def test_writing_out_of_bounds_by_one_element_is_found(
    device: ArrayDevice, change: Callable[[Arguments], None], where: str
) -> None:
    finding = find(device, after(change))
    assert finding.status is Status.WRONG
    assert f"writes out of bounds: {where}" in finding.message


def test_half_an_output_is_found_and_said(device: ArrayDevice) -> None:
    def half(given: Arguments) -> None:
        kept = given["out"].copy()
        gather(given)
        given["out"][32:] = kept[32:]

    finding = find(device, half)
    assert finding.status is Status.WRONG
    assert "out: 50 % of elements differ, first at [32, 0]: nan" in finding.message
    assert "(never written)" in finding.message


def test_an_element_that_is_rightly_all_ones_may_not_be_left_unwritten() -> None:
    # The first pattern is the right answer here: only the second one shows the gap.
    device = ArrayDevice()
    ones = Workload("ones", (Buffer("n", "i32", (8,), Role.IN, "arange"), COUNT))

    def plain(given: Arguments) -> None:
        given["count"][...] = -1

    bench = Examiner(device, device.program(plain), (ones,), Plan())
    assert bench.examine(device.program(plain)).is_right
    finding = bench.examine(device.program(lambda _: None))
    assert finding.status is Status.WRONG
    assert "(never written)" in finding.message


def test_reading_what_nobody_wrote_is_found(device: ArrayDevice) -> None:
    def accumulates(given: Arguments) -> None:
        before = given["count"].copy()
        gather(given)
        given["count"][...] += before

    finding = find(device, accumulates)
    assert finding.status is Status.WRONG
    assert "reads count before anybody wrote it" in finding.message


def test_reading_past_an_input_is_found(device: ArrayDevice) -> None:
    def change(given: Arguments) -> None:
        end = given.places["x"].data_offset + given.places["x"].data_bytes
        given["out"][0, 0] = given.memory["x"][end : end + 4].view(np.float32)[0]

    assert find(device, after(change)).status is Status.WRONG


def test_an_answer_that_changes_from_launch_to_launch_is_unstable(device: ArrayDevice) -> None:
    launches = iter(range(1000))

    def change(given: Arguments) -> None:
        given["out"][0, 0] = next(launches)

    finding = find(device, after(change))
    assert finding.status is Status.UNSTABLE
    assert "other bits on each launch, and wrong: out: 1 of 2112" in finding.message


def test_right_once_and_wrong_on_the_second_launch_is_unstable(device: ArrayDevice) -> None:
    finding = find(device, every(2, spoil_out(9.0)))
    assert finding.status is Status.UNSTABLE
    assert "right on the first launch, wrong on the next one: out: 1 of 2112" in finding.message


def test_one_wrong_launch_in_ten_is_found_in_the_final_check() -> None:
    device = ArrayDevice()
    bench = examiner(device)
    finding = bench.examine(device.program(every(10, spoil_out(9.0))), is_final=True)
    assert finding.status is Status.UNSTABLE
    assert "right on the first 9 launches" in finding.message


def test_a_result_cached_from_earlier_inputs_is_found(device: ArrayDevice) -> None:
    cache: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = {}

    def cached(given: Arguments) -> None:
        if not cache:
            gather(given)
            cache.update({name: given[name].copy() for name in ("out", "count", "sum")})
        for name, value in cache.items():
            given[name][...] = value

    finding = find(device, cached)
    assert finding.status is Status.WRONG
    assert "gives the answer to the inputs before" in finding.message


def test_a_changed_input_is_found(device: ArrayDevice) -> None:
    def change(given: Arguments) -> None:
        given["ix"][5] ^= 1

    finding = find(device, after(change))
    assert finding.status is Status.WRONG
    assert "changes its input ix" in finding.message


def test_in_place_buffers_are_restored_between_launches(device: ArrayDevice) -> None:
    def twice(given: Arguments) -> None:
        gather(given)
        given["sum"][...] += given["x"].sum(axis=0)

    bench = examiner(device)
    for _ in range(3):
        assert bench.examine(device.program(gather)).is_right
    assert "sum: 100 % of elements differ" in bench.examine(device.program(twice)).message


def test_wrong_only_on_the_last_workload_is_found(device: ArrayDevice) -> None:
    small = Workload("small", (X, IX, OUT, COUNT, SUM, Scalar("a", "f32", 3.0)))

    def change(given: Arguments) -> None:
        if given.workload.name == "small":
            given["out"][0, 0] = 1

    finding = examiner(device, GATHER, small).examine(device.program(after(change)))
    assert finding.status is Status.WRONG
    assert "(workload small, inputs 0)" in finding.message


def test_held_out_workloads_and_hidden_inputs_are_for_the_final_check() -> None:
    device = ArrayDevice()
    kept = Workload("kept", GATHER.arguments, held_out=True)
    bench = examiner(device, GATHER, kept)
    seen: set[str] = set()

    def watched(given: Arguments) -> None:
        gather(given)
        seen.add(f"{given.workload.name} {given['x'].tobytes()[:32].hex()}")

    assert bench.examine(device.program(watched)).is_right
    assert len(seen) == 3
    assert bench.examine(device.program(watched), is_final=True).is_right
    assert len(seen) == 8


def test_an_unproven_candidate_meets_more_inputs() -> None:
    device = ArrayDevice()
    bench = examiner(device)
    exact, unproven = device.program(gather), device.program(gather)
    assert bench.examine(exact).is_right
    assert bench.examine(unproven, Risk.UNPROVEN).is_right
    assert unproven.launches == exact.launches + 6


def test_wrong_at_large_scale_only_is_found(device: ArrayDevice) -> None:
    def change(given: Arguments) -> None:
        np.clip(given["out"], -50, 50, out=given["out"])

    finding = find(device, after(change))
    assert finding.status is Status.WRONG
    assert "inputs 2, scale 1000)" in finding.message


def test_a_damaged_plain_kernel_is_no_verdict_on_the_candidate(device: ArrayDevice) -> None:
    damaged: list[bool] = []

    def fragile(given: Arguments) -> None:
        gather(given)
        if damaged:
            given["out"][0, 0] += 1

    bench = Examiner(device, device.program(fragile), (GATHER,), Plan())
    bench.prepare()
    damaged.append(True)
    with pytest.raises(DeviceError, match="the plain kernel no longer gives the answer"):
        bench.examine(device.program(fragile))


def test_after_timing_the_last_answer_is_looked_at(device: ArrayDevice) -> None:
    workload = Workload("w", (X, IX, OUT, COUNT, Scalar("a", "f32", 2.0)))

    def plain(given: Arguments) -> None:
        given["out"][...] = given["x"][given["ix"]]
        given["count"][...] = 1

    launches = iter(range(1000))

    def tired(given: Arguments) -> None:
        plain(given)
        if next(launches) > 20:
            given["count"][7] = 2

    bench = Examiner(device, device.program(plain), (workload,), Plan())
    program = device.program(tired)
    assert bench.examine(program).is_right
    session = bench.session("w")
    session.time_us(program, 3)
    assert bench.recheck("w", program, Risk.EXACT).is_right
    session.time_us(program, 30)
    finding = bench.recheck("w", program, Risk.EXACT)
    assert finding.status is Status.WRONG
    assert "after timing: count: 1.56 % of elements differ, first at [7]" in finding.message


def test_an_in_place_kernel_is_launched_once_more_after_timing(device: ArrayDevice) -> None:
    bench = examiner(device)
    places, images = bench.start("gather")
    session = device.open(GATHER, places, Plan().regime)
    session.upload(images)
    program = device.program(gather)
    session.time_us(program, 5)
    assert bench.recheck("gather", program, Risk.EXACT, session).is_right


def test_an_unknown_workload_is_named() -> None:
    with pytest.raises(UsageError, match="no workload 'none'; there are: gather"):
        examiner(ArrayDevice()).session("none")


def plain_fault(function: Function, *arguments: Argument) -> str:
    device = ArrayDevice()
    workload = Workload("w", arguments or GATHER.arguments)
    with pytest.raises(LaunchError) as caught:
        Examiner(device, device.program(function), (workload,), Plan()).prepare()
    return str(caught.value)


def test_a_plain_kernel_that_cannot_be_held_against_is_refused() -> None:
    def reads(given: Arguments) -> None:
        before = given["count"].copy()
        gather(given)
        given["count"][...] = np.maximum(before, 3)

    assert "the plain kernel writes out of bounds" in plain_fault(after(write_behind))
    assert "writes out of bounds: 1 bytes round x" in plain_fault(after(write_behind_an_input))
    assert "writes nothing: look at grid" in plain_fault(lambda _: None)
    assert "'count' depends on what lay there before: give it role" in plain_fault(reads)

    def changes(given: Arguments) -> None:
        gather(given)
        given["ix"][0] ^= 1

    assert "changes 'ix', which has role \"in\": make it" in plain_fault(changes)

    def nothing_but_nan(given: Arguments) -> None:
        gather(given)
        given["out"][...] = np.float32(-np.nan)

    assert "'out' holds nothing but NaN" in plain_fault(nothing_but_nan)


def counting(name: str, step: float) -> Function:
    """A kernel that adds to an answer what it remembers of earlier launches."""
    launches = iter(range(1, 10**6))

    def kernel(given: Arguments) -> None:
        gather(given)
        given[name][...] += np.asarray(step * next(launches)).astype(given[name].dtype)

    return kernel


@pytest.mark.parametrize(
    ("name", "step", "words"),
    [("count", 1.0, "count: 100 % of elements differ, first at [0]: "), ("out", 0.01, "out: ")],
)
def test_a_plain_kernel_that_remembers_launches_is_not_repeatable(
    name: str, step: float, words: str
) -> None:
    said = plain_fault(counting(name, step))
    assert said.startswith("workload 'w': the baseline is not repeatable: launched again on the ")
    assert f"same inputs, {words}" in said
    assert "keeps something between launches" in said


def test_what_is_no_answer_need_not_repeat() -> None:
    device = ArrayDevice()
    loose = [replace(OUT, tolerance=0.5), replace(COUNT, tolerance=float("inf"))]
    workload = Workload("w", (X, IX, *loose, SUM, Scalar("a", "f32", 2.0)))
    for name in ("out", "count"):
        bench = Examiner(device, device.program(counting(name, 1e-3)), (workload,), Plan())
        bench.prepare()


def test_where_launches_run_one_after_the_other_not_even_rounding_may_differ() -> None:
    device, slightly = ArrayDevice(), counting("out", 1e-7)
    bench = Examiner(device, device.program(slightly), (GATHER,), Plan())
    bench.prepare()
    assert "the baseline is not repeatable" in bench.notes[0]
    with pytest.raises(LaunchError, match="the baseline is not repeatable"):
        Examiner(device, device.program(slightly), (GATHER,), Plan(must_repeat=True)).prepare()


def test_a_plain_kernel_that_is_found_out_late_is_an_error_of_its_own(device: ArrayDevice) -> None:
    launches = iter(range(10**6))

    def changes_later(given: Arguments) -> None:
        gather(given)
        launch = next(launches)
        given["out"][...] += launch > 80 and launch % 14 == 0

    rarely = device.program(changes_later)
    bench = Examiner(device, rarely, (GATHER,), Plan())
    bench.prepare()

    def examine_often() -> None:
        for _ in range(40):
            bench.examine(rarely)

    with pytest.raises(LaunchError, match="the baseline is not repeatable"):
        examine_often()


def test_what_the_plain_kernel_never_writes_a_candidate_may_not_write_either(
    device: ArrayDevice,
) -> None:
    def border(given: Arguments) -> None:
        given["out"][1:-1] = given["x"][1:-1]

    bench = Examiner(device, device.program(border), (Workload("w", (X, OUT)),), Plan())

    def whole(given: Arguments) -> None:
        given["out"][...] = given["x"]

    assert bench.examine(device.program(border)).is_right
    assert bench.examine(device.program(border), Risk.ROUNDING).is_right
    assert bench.examine(device.program(whole)).status is Status.WRONG
    assert bench.examine(device.program(whole), Risk.ROUNDING).status is Status.WRONG


def test_scratch_memory_is_nobodys_answer(device: ArrayDevice) -> None:
    scratch = Buffer("scratch", "f32", (32,), Role.OUT, tolerance=float("inf"))
    launches = iter(range(1000))

    def plain(given: Arguments) -> None:
        given["out"][...] = given["x"]
        given["scratch"][::2] = next(launches)

    bench = Examiner(device, device.program(plain), (Workload("w", (X, OUT, scratch)),), Plan())
    for demand in Risk:
        assert bench.examine(device.program(plain), demand).is_right

    def beyond(given: Arguments) -> None:
        plain(given)
        end = given.places["scratch"].data_offset + given.places["scratch"].data_bytes
        given.memory["scratch"][end] = 0

    assert "out of bounds" in bench.examine(device.program(beyond)).message


def test_little_memory_leaves_cases_out_of_the_search_and_says_so() -> None:
    device = ArrayDevice()
    bench = Examiner(device, device.program(gather), (GATHER,), Plan(memory_bytes=1))
    program = device.program(gather)
    assert bench.examine(program).is_right
    assert "2 sets of inputs are left out of the search for want of memory" in bench.notes[0]
    assert bench.examine(device.program(every(1, spoil_out(0.0)))).status is Status.WRONG
    assert bench.examine(program, is_final=True).is_right

    def change(given: Arguments) -> None:
        np.clip(given["out"], -50, 50, out=given["out"])

    assert bench.examine(device.program(after(change))).is_right
    assert not bench.examine(device.program(after(change)), is_final=True).is_right


def test_on_a_resident_device_a_right_answer_moves_nothing() -> None:
    device = ArrayDevice(resident=True)
    bench = examiner(device)
    bench.examine(device.program(gather))
    session = device.sessions[0]
    assert isinstance(session, ResidentSession)
    uploads, downloads = session.uploads, session.downloads
    assert bench.examine(device.program(gather)).is_right
    assert (session.uploads, session.downloads) == (uploads, downloads)


def test_a_resident_device_without_room_is_compared_on_the_host() -> None:
    device = ArrayDevice(resident=True)
    bench = examiner(device)
    session = device.sessions[0]
    assert isinstance(session, ResidentSession)
    session.room = 3
    assert bench.examine(device.program(gather)).is_right
    assert not bench.examine(device.program(after(spoil_out(1.0)))).is_right


def test_a_write_between_the_rows_of_a_strided_output_is_found(device: ArrayDevice) -> None:
    out = Buffer("out", "bf16", (8, 5), Role.OUT, strides=(6, 1))
    x = Buffer("x", "bf16", (8, 5), Role.IN, "normal")

    def plain(given: Arguments) -> None:
        given["out"][...] = given["x"]

    def beside(given: Arguments) -> None:
        plain(given)
        start = given.places["out"].data_offset
        given.memory["out"][start : start + 64].view(np.uint16)[5] = 0

    bench = Examiner(device, device.program(plain), (Workload("w", (x, out)),), Plan())
    for demand in Risk:
        assert bench.examine(device.program(plain), demand, is_final=True).is_right
        assert bench.examine(device.program(beside), demand).status is Status.WRONG
    message = bench.examine(device.program(beside)).message
    assert "out: 2.13 % of elements differ, first between its rows, 5 elements" in message


def test_an_output_that_is_a_view_of_the_input_is_updated_in_place(device: ArrayDevice) -> None:
    x = Buffer("x", "f32", (16,), Role.IN, "normal")
    tail = Buffer("tail", "f32", (8,), Role.OUT, view_of="x", offset=8)

    def plain(given: Arguments) -> None:
        given["tail"][...] += given["x"][:8]

    def head(given: Arguments) -> None:
        plain(given)
        given["x"][0] = 1

    bench = Examiner(device, device.program(plain), (Workload("w", (x, tail)),), Plan())
    for demand in Risk:
        assert bench.examine(device.program(plain), demand).is_right
        finding = bench.examine(device.program(head), demand)
        assert "first at [0]: 1 " in finding.message
        assert finding.status is Status.WRONG


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2", "bf16", "f16", "i8", "u64", "bool"])
def test_outputs_of_every_type_are_checked(device: ArrayDevice, dtype: str) -> None:
    fill = "normal" if dtype[0] in "fb" and dtype != "bool" else "integers(0, 2)"
    x = Buffer("x", dtype, (100,), Role.IN, fill)

    def plain(given: Arguments) -> None:
        given["out"][...] = given["x"]

    def zeros(given: Arguments) -> None:
        given["out"][...] = 0

    out = Buffer("out", dtype, (100,), Role.OUT)
    bench = Examiner(device, device.program(plain), (Workload("w", (x, out)),), Plan())
    for demand in Risk:
        assert bench.examine(device.program(plain), demand).is_right
        assert bench.examine(device.program(zeros), demand).status is Status.WRONG

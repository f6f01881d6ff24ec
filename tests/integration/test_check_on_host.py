"""Hostile C kernels that run to their end: each is refused for the right reason."""

from collections.abc import Iterator

import pytest
from tests.helpers.c import hostile, library

from burnish.devices.host import HostDevice, open_host
from burnish.devices.port import Regime
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.model.workload import Buffer, Role, Scalar, Workload
from burnish.verify.examiner import Examiner
from burnish.verify.paper import Plan

CHANGES_ITS_INPUT = """
void kernel(float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    in[n / 2] = 0;
}
"""
FUSED = """
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = (float)(2.0 * in[i] + 1.0000001);
}
"""


def workload(n: int) -> Workload:
    return Workload(
        str(n),
        (
            Buffer("in", "f32", (n,), Role.IN, "normal"),
            Buffer("out", "f32", (n,), Role.OUT),
            Scalar("n", "i32", n),
        ),
    )


@pytest.fixture(scope="module")
def device() -> Iterator[HostDevice]:
    opened = open_host(pin=False)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def examiner(device: HostDevice) -> Examiner:
    plain = device.load(hostile("good"), "kernel")
    plan = Plan(regime=Regime.WARM)
    return Examiner(device, plain, (workload(1000), workload(5000)), plan)


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("accumulates", Status.WRONG, "reads out before anybody wrote it"),
        ("cached_result", Status.WRONG, "gives the answer to the inputs before"),
        ("half_output", Status.WRONG, "out: 50 % of elements differ, first at [500]: nan"),
        ("last_workload", Status.WRONG, "first at [2500]"),
        ("not_deterministic", Status.UNSTABLE, "other bits on each launch, and wrong"),
        ("out_of_bounds", Status.WRONG, "4 bytes round out changed, the nearest 0 bytes behind"),
        ("second_launch", Status.UNSTABLE, "right on the first launch, wrong on the next one"),
        ("uninitialised", Status.WRONG, "reads out before anybody wrote it"),
    ],
)
def test_a_wrong_answer_is_refused_for_the_right_reason_and_neighbours_pass(
    device: HostDevice, examiner: Examiner, name: str, status: Status, words: str
) -> None:
    finding = examiner.examine(device.load(hostile(name), "kernel"))
    assert finding.status is status
    assert words in finding.message
    assert examiner.examine(device.load(hostile("good"), "kernel")).is_right


@pytest.mark.parametrize("name", ["good", "changes_floats"])
def test_a_right_answer_passes(device: HostDevice, examiner: Examiner, name: str) -> None:
    program = device.load(hostile(name), "kernel")
    for demand in Risk:
        assert examiner.examine(program, demand, is_final=True).is_right


def test_a_changed_input_is_refused(device: HostDevice, examiner: Examiner) -> None:
    finding = examiner.examine(device.load(library(CHANGES_ITS_INPUT, ("-O1",)), "kernel"))
    assert finding.status is Status.WRONG
    assert "changes its input in" in finding.message


def test_other_rounding_passes_only_where_it_is_allowed(
    device: HostDevice, examiner: Examiner
) -> None:
    program = device.load(library(FUSED, ("-O1",)), "kernel")
    assert examiner.examine(program).status is Status.WRONG
    assert examiner.examine(program, Risk.ROUNDING).is_right


def test_after_timing_the_answer_is_looked_at_again(device: HostDevice, examiner: Examiner) -> None:
    program = device.load(hostile("good"), "kernel")
    session = examiner.session("5000")
    assert session.time_us(program, 20) > 0
    assert examiner.left_behind("5000", Risk.EXACT, session).is_right
    wrong = device.load(hostile("last_workload"), "kernel")
    session.time_us(wrong, 20)
    finding = examiner.left_behind("5000", Risk.EXACT, session)
    assert "after timing: out: 1 of 5000 elements differs, first at [2500]" in finding.message

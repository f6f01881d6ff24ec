import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar, cast

import numpy as np
import pytest
from tests.helpers.fake_device import (
    QUIET,
    FakeDevice,
    FakeNoise,
    Script,
    fake_session,
    fake_workload,
    open_fake,
)

from burnish.devices.port import Device, Session
from burnish.devices.worker import Fault, Worker, WorkerFailure
from burnish.errors import DeviceError, InternalError
from burnish.measure.confirm import Confirmation, Limits, confirm, planned_rounds
from burnish.measure.energy import ENERGY_RULE, Metered
from burnish.measure.rounds import Plan
from burnish.measure.sitting import Contender, Sitting, Timed
from burnish.measure.stats import Array
from burnish.measure.verdict import judge
from burnish.model.verdict import Outcome

T = TypeVar("T")
WORKLOADS = (fake_workload("one"), fake_workload("two", held_out=True))
LIMITS = Limits(60.0)


def open_sessions(device: Device) -> Mapping[str, Session]:
    assert isinstance(device, FakeDevice)
    return {workload.name: fake_session(device, workload) for workload in WORKLOADS}


def recheck(workload: str, session: Session) -> str:
    """All inputs are 7: compare with the fake kernel's answer."""
    assert workload in {one.name for one in WORKLOADS}
    target, state = session.download("target"), session.download("state")
    right = (7 * 64 + np.arange(64)) % 251
    wrong = int((target[16:80] != right).sum()) + int((state[16:32] != 8).sum())
    return f"{wrong} of 80 elements differ" if wrong else ""


def sitting(*scripts: Script, rounds: int = 60) -> Sitting:
    base = Script(name="baseline")
    contenders = tuple(Contender(one.image, "f") for one in (base, base, *scripts))
    return Sitting(contenders, open_sessions, recheck, Timed(Plan(rounds)), (1,), 0.0)


@dataclass
class Lab:
    """Hands out callers on fresh fake devices, in this process; a script's fault is a failure."""

    noise: FakeNoise = QUIET
    opened: int = 0
    closed: int = 0
    jobs: list[Sitting] = field(default_factory=list)

    def fresh(self) -> "Bench":
        self.opened += 1
        return Bench(self, FakeDevice(self.opened, self.noise))


@dataclass
class Bench:
    lab: Lab
    device: FakeDevice

    def prepare(self) -> None:
        """Nothing has to be started."""

    def call(self, job: Callable[[Device], T], limit_s: float, *, silence_s: float = 0.0) -> T:
        assert isinstance(job, Sitting)
        assert (limit_s, silence_s) == (LIMITS.sitting_s, LIMITS.silence_s)
        self.lab.jobs.append(job)
        heard = ["opening"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("burnish.devices.worker.report_stage", lambda name, _: heard.append(name))
            try:
                return cast("T", job(self.device))
            except DeviceError as error:
                raise WorkerFailure(Fault.ERROR, heard[-1], str(error)) from error
            except TypeError as error:
                raise WorkerFailure(Fault.ERROR, heard[-1], f"TypeError: {error}") from None

    def close(self) -> None:
        self.lab.closed += 1


def run(job: Sitting, lab: Lab | None = None) -> Confirmation:
    return confirm(job, WORKLOADS, (lab or Lab()).fresh, LIMITS)


def test_each_process_is_fresh_and_has_orders_of_its_own() -> None:
    lab = Lab()
    found = run(sitting(Script(90.0)), lab)
    assert lab.opened == lab.closed == 3
    assert [job.seed for job in lab.jobs] == [(1, 0), (1, 1), (1, 2)]
    assert found.evidence.figures.shape == (3, 60, 3, 2)
    assert found.evidence.faults == ("", "", "")
    assert len(found.taken) == 3
    assert judge(found.evidence).verdict.outcome is Outcome.BETTER
    assert judge(found.evidence).verdict.ratio == pytest.approx(100 / 90)


def test_a_finalist_that_keeps_ending_its_worker_is_out_and_the_others_are_measured() -> None:
    lab = Lab()
    faulty = Script(50.0, fault="raise", every=50)
    found = run(sitting(Script(90.0), faulty, Script(95.0)), lab)
    judgement = judge(found.evidence)
    assert [one.outcome for one in judgement.verdicts] == [
        Outcome.BETTER,
        Outcome.WRONG,
        Outcome.BETTER,
    ]
    assert "failed while it was confirmed" in judgement.verdicts[1].reason
    assert "illegal address" in judgement.verdicts[1].reason
    assert lab.opened == lab.closed == 5  # once more for it, once more without it
    assert judgement.chosen == 0


def test_a_finalist_that_cannot_be_loaded_is_out() -> None:
    job = sitting(Script(90.0))
    job = replace(job, contenders=(*job.contenders, Contender(b"no script", "f")))
    assert [bool(fault) for fault in run(job).evidence.faults] == [False, False, False, True]


@pytest.mark.parametrize("answers", ["wrong", "half", "second", "unwritten", "cached"])
def test_answers_that_are_wrong_after_the_timing_lose(answers: str) -> None:
    wrong = Script(50.0, answers=answers, on="two")
    if answers == "cached":  # what the first launch answered is right here, so it must be too
        assert run(sitting(wrong)).evidence.faults[2] == ""
        return
    found = run(sitting(wrong, Script(90.0)))
    judgement = judge(found.evidence)
    assert judgement.verdicts[0].outcome is Outcome.WRONG
    assert "wrong after it was timed: two:" in judgement.verdicts[0].reason
    assert judgement.chosen == 1


def test_a_finalist_whose_times_cannot_be_is_out() -> None:
    found = run(sitting(Script(timer="nan", timer_from=50), Script(90.0)))
    assert "no finite number" in found.evidence.faults[2]
    assert judge(found.evidence).chosen == 1


@pytest.mark.parametrize(
    "broken", [Script(fault="raise"), Script(timer="zero"), Script(answers="wrong")]
)
def test_a_plain_build_that_fails_is_an_unhealthy_device(broken: Script) -> None:
    job = sitting(Script(90.0))
    base = Contender(broken.image, "f")
    with pytest.raises(DeviceError, match="plain build"):
        run(replace(job, contenders=(base, base, job.contenders[2])))


def test_a_fault_before_any_program_runs_is_retried_once() -> None:
    calls = 0

    def open_badly(device: Device) -> Mapping[str, Session]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise DeviceError("out of memory")
        return open_sessions(device)

    lab = Lab()
    found = run(replace(sitting(Script(90.0)), open=open_badly), lab)
    assert lab.opened == 4
    assert judge(found.evidence).chosen == 0


def test_an_error_that_is_no_fault_of_the_device_is_raised_as_it_is() -> None:
    def recheck_badly(workload: str, session: Session) -> str:
        raise TypeError(f"no {type(session).__name__} for {workload}")

    with pytest.raises(InternalError, match="TypeError: no FakeSession for one"):
        run(replace(sitting(Script()), recheck=recheck_badly))


def test_what_a_reader_should_know_of_the_clocks_is_kept() -> None:
    @dataclass
    class Hot(Lab):
        def fresh(self) -> Bench:
            bench = super().fresh()
            bench.device.throttle = [(), ("hardware slowdown",)]
            return bench

    found = run(sitting(Script(90.0), rounds=3), Hot())
    assert found.evidence.remarks == ("3 rounds were repeated because of hardware slowdown",)


def test_energy_is_confirmed_in_windows_by_the_same_rule() -> None:
    job = replace(sitting(Script(90.0), Script(100.0)), take=Metered())
    found = confirm(job, WORKLOADS, Lab(FakeNoise(paired_share=0.002)).fresh, LIMITS)
    judgement = judge(found.evidence, ENERGY_RULE)
    assert found.evidence.metric == judgement.verdict.metric == "energy"
    assert found.evidence.figures.shape == (3, 3, 4, 2)
    assert judgement.chosen == 0
    assert judgement.verdict.ratio == pytest.approx(100 / 90, rel=0.01)
    assert judgement.verdict.baseline == pytest.approx(20.0, rel=0.02)


@pytest.mark.slow
def test_a_sitting_runs_in_a_worker() -> None:
    job = sitting(Script(80.0), rounds=5)
    fresh = partial(Worker[FakeDevice], open_fake)
    found = confirm(job, WORKLOADS, fresh, LIMITS)
    assert found.evidence.figures.shape == (3, 5, 3, 2)
    assert pickle.loads(pickle.dumps(found)).evidence.faults == ("", "", "")  # noqa: S301


@pytest.mark.slow
def test_a_finalist_that_hangs_or_kills_its_worker_is_named() -> None:
    job = sitting(Script(80.0), Script(fault="hang", every=9), Script(fault="exit"), rounds=5)
    fresh = partial(Worker[FakeDevice], open_fake)
    found = confirm(job, WORKLOADS, fresh, Limits(30.0, silence_s=1.5))
    assert [bool(fault) for fault in found.evidence.faults] == [False, False, False, True, True]
    assert "nothing was heard" in found.evidence.faults[3]


def race_of(gain: float, noise: float, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(gain, noise, (40, 8))


def test_rounds_are_planned_by_the_noise_of_the_race() -> None:
    plans = [planned_rounds(race_of(0.01, noise)) for noise in (0.001, 0.005, 0.01, 0.1)]
    assert plans[:2] == [60, 60]
    assert 150 <= plans[2] <= 260
    assert plans[3] == 300
    assert planned_rounds(race_of(0.01, 0.1), most=100) == 100


def test_a_large_gain_is_seen_in_few_rounds_and_no_gain_is_not_looked_for() -> None:
    assert planned_rounds(race_of(0.3, 0.03)) == 60
    assert planned_rounds(race_of(-0.01, 0.01)) == 60


@pytest.mark.parametrize("shape", [(0, 0), (4, 8), (40, 0)])
def test_a_race_that_says_nothing_gets_what_the_rule_demands(shape: tuple[int, int]) -> None:
    assert planned_rounds(np.zeros(shape)) == 60


def test_rounds_that_remember_take_more_of_them() -> None:
    white = race_of(0, 0.008, seed=1)
    slow = white.copy()
    for turn in range(1, len(slow)):
        slow[turn] = 0.5 * slow[turn - 1] + 0.75**0.5 * slow[turn]
    assert planned_rounds(slow) > 1.5 * planned_rounds(white)

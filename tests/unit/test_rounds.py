import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from tests.helpers.fake_device import USUAL, FakeDevice, Script, fake_session, fake_workload

from burnish.devices.port import DeviceState
from burnish.errors import DeviceError
from burnish.measure.clocks import Patience
from burnish.measure.rounds import (
    Plan,
    Rounds,
    Surroundings,
    blamed,
    heartbeat,
    run_rounds,
    warm_up,
)
from burnish.measure.timing import Bounds
from burnish.model.frozen import FrozenMap


def run(
    scripts: Sequence[Script],
    plan: Plan,
    device: FakeDevice | None = None,
    surroundings: Surroundings | None = None,
) -> Rounds:
    device = device or FakeDevice()
    programs = [device.load(script.image, "f") for script in scripts]
    sessions = {name: fake_session(device, fake_workload(name)) for name in ("small", "large")}
    return run_rounds(sessions, programs, plan, np.random.default_rng(0), surroundings)


def test_every_program_is_timed_once_a_round_on_every_workload() -> None:
    slow = Script(time_us=200.0, times_us={"large": 900.0})
    rounds = run([Script(), slow, Script(50.0)], Plan(5))
    assert rounds.workloads == ("small", "large")
    assert rounds.times_us.shape == (5, 3, 2)
    assert rounds.times_us[:, 1] == pytest.approx(np.tile([200.0, 900.0], (5, 1)))
    assert rounds.faults == ("", "", "")
    for places in rounds.places:
        assert sorted(places.ravel().tolist()) == list(range(6))


def test_orders_are_fresh_in_every_round() -> None:
    rounds = run([Script()] * 6, Plan(40))
    orders = {places.tobytes() for places in rounds.places}
    assert len(orders) == 40
    assert rounds.places.mean(axis=0) == pytest.approx(np.full((6, 2), 5.5), abs=1.8)


def test_one_seed_gives_one_measurement() -> None:
    one, same = (run([Script(), Script()], Plan(3), FakeDevice(4, USUAL)) for _ in range(2))
    assert (one.times_us == same.times_us).all()
    assert (one.places == same.places).all()


def test_buffers_are_brought_back_before_each_sample_and_each_program_runs_untimed_first() -> None:
    device = FakeDevice()
    session = fake_session(device)
    programs = [device.load(Script(name=name).image, "f") for name in "ab"]
    run_rounds({"one": session}, programs, Plan(2), np.random.default_rng(0))
    assert session.log[:4] == ["restore", "launch", "restore", "launch"]
    assert session.log[4::2] == ["restore"] * 5
    assert session.log[5::2] == ["time 1"] * 5


def test_short_launches_are_timed_many_in_a_row() -> None:
    rounds = run([Script(4.0, {"large": 250.0})] * 2, Plan(2))
    assert rounds.calls == (25, 1)


def test_a_plan_may_name_calls_and_bounds() -> None:
    plan = Plan(
        2,
        calls=FrozenMap({"small": 7, "large": 3}),
        bounds=FrozenMap({"small": Bounds(most_us=150.0), "large": Bounds()}),
    )
    rounds = run([Script(), Script(200.0)], plan)
    assert rounds.calls == (7, 3)
    assert "over the limit of 150" in rounds.faults[1]


@pytest.mark.parametrize("timer", ["zero", "negative", "nan", "inf", "tiny", "huge"])
def test_a_candidate_whose_time_cannot_be_is_out_and_its_neighbours_stay(timer: str) -> None:
    rounds = run([Script(), Script(timer=timer, timer_from=3), Script(90.0)], Plan(4))
    assert rounds.faults[0] == rounds.faults[2] == ""
    assert "the timer says" in rounds.faults[1]
    assert np.isnan(rounds.times_us[:, 1]).all()
    assert (rounds.times_us[:, 2] == 90.0).all()


@pytest.mark.parametrize("timer", ["zero", "negative", "nan", "inf", "tiny"])
@pytest.mark.parametrize("fine_samples", [0, 3])
def test_a_baseline_whose_time_cannot_be_ends_the_measurement(
    timer: str, fine_samples: int
) -> None:
    with pytest.raises(DeviceError, match=r"the baseline on (small|large): the timer says"):
        run([Script(timer=timer, timer_from=fine_samples), Script()], Plan(4))


def test_rounds_under_heat_are_repeated_after_growing_pauses() -> None:
    hot = ("hardware thermal slowdown",)
    device = FakeDevice(throttle=[(), hot, hot, ("software power cap",), hot, ()])
    pauses: list[float] = []
    surroundings = Surroundings(device.state, rest=pauses.append)
    rounds = run([Script(), Script()], Plan(3), device, surroundings)
    assert rounds.discarded == hot * 3
    assert pauses == [0.05, 0.1, 0.05]
    assert len(rounds.times_us) == len(rounds.states) == 3
    assert [state.throttle for state in rounds.states] == [(), ("software power cap",), ()]


def test_a_device_that_is_always_hot_still_answers() -> None:
    hot = DeviceState(throttle=("hardware slowdown",))
    surroundings = Surroundings(lambda: hot, rest=lambda _: None)
    plan = Plan(4, patience=Patience(most_discards=6))
    rounds = run([Script(), Script()], plan, surroundings=surroundings)
    assert len(rounds.discarded) == 6
    assert len(rounds.times_us) == 4
    assert set(rounds.states) == {hot}


def test_the_last_heartbeat_names_the_program_that_failed() -> None:
    heard: list[str] = []
    surroundings = Surroundings(watch=heard.append)
    with pytest.raises(DeviceError):
        run([Script(), Script(), Script(fault="raise", every=5)], Plan(9), None, surroundings)
    assert blamed(heard[-1]) == 2
    assert {blamed(name) for name in heard} == {0, 1, 2}


@pytest.mark.parametrize("name", ["", "opening sessions", "program", "program x: y"])
def test_other_stages_name_no_program(name: str) -> None:
    assert blamed(name) is None
    assert blamed(heartbeat(12, "a: b")) == 12


def test_rounds_travel_between_processes() -> None:
    rounds = run([Script(), Script(timer="nan")], Plan(2))
    back = pickle.loads(pickle.dumps(rounds))  # noqa: S301 - our own
    assert np.array_equal(back.times_us, rounds.times_us, equal_nan=True)
    assert back.faults == rounds.faults
    assert back.states == rounds.states


def test_warming_up_takes_its_time_and_leaves_buffers_as_they_were() -> None:
    device = FakeDevice()
    session = fake_session(device)
    warm_up({"one": session}, device.load(Script().image, "f"), 0.02)
    assert "launch" in session.log
    session.restore()
    assert (session.download("state") == 7).all()

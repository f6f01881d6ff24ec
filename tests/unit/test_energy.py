from math import inf, nan

import numpy as np
import pytest
from tests.helpers.fake_device import FakeDevice, FakeWindow, Script, fake_session

from burnish.devices.port import Program, Session
from burnish.errors import DeviceError
from burnish.measure.energy import Metered, Power, per_launch_mj, window_s


def run(device: FakeDevice, *scripts: Script) -> Power:
    programs = [device.load(script.image, "f") for script in scripts]
    sessions = {"one": fake_session(device)}
    return Metered(rounds=4)(device, sessions, programs, np.random.default_rng(0))


def test_a_window_lasts_many_ticks_and_many_launches() -> None:
    assert window_s(100.0, tick_ms=20.0) == 2.0
    assert window_s(100.0, tick_ms=200.0) == 4.0
    assert window_s(50_000.0) == 10.0


def test_energy_of_a_launch_and_power_come_from_the_same_window() -> None:
    power = run(FakeDevice(), Script(), Script(50.0))
    assert power.figures.shape == (4, 2, 1)
    assert power.energies_mj[:, :, 0] == pytest.approx(np.tile([20.0, 10.0], (4, 1)))
    assert power.powers_w[:, :, 0] == pytest.approx(np.full((4, 2), 200.0))
    assert power.faults == ("", "")
    assert len(power.states) == 4


@pytest.mark.parametrize(
    "window",
    [
        FakeWindow(0.0, 10, 2.0),
        FakeWindow(-5.0, 10, 2.0),
        FakeWindow(nan, 10, 2.0),
        FakeWindow(inf, 10, 2.0),
        FakeWindow(5.0, 0, 2.0),
        FakeWindow(5.0, 10, 0.0),
    ],
)
def test_a_window_that_cannot_be_is_refused(window: FakeWindow) -> None:
    class Device(FakeDevice):
        def energy_window(self, session: Session, program: Program, seconds: float) -> FakeWindow:
            assert isinstance(session, type(fake_session(self)))
            sound = FakeWindow(10.0, 10, seconds)
            return sound if self.known(program).script.name == "baseline" else window

    assert np.isnan(per_launch_mj(window))
    power = run(Device(), Script(name="baseline"), Script())
    assert power.faults[0] == ""
    assert "cannot be" in power.faults[1]
    with pytest.raises(DeviceError, match="the baseline"):
        run(Device(), Script(), Script())


def test_a_device_that_counts_no_energy_says_so() -> None:
    class Plain:
        state = FakeDevice().state

    with pytest.raises(DeviceError, match="counts no energy"):
        Metered()(Plain(), {}, [], np.random.default_rng(0))  # type: ignore[arg-type]

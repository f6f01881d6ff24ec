import pytest

from burnish.devices.port import DeviceState
from burnish.measure.clocks import Patience, remarks, spoiled_by


@pytest.mark.parametrize(
    "reason",
    [
        "hardware slowdown",
        "software thermal slowdown",
        "hardware thermal slowdown",
        "power brake",
        "HwSlowdown",
        "SwThermalSlowdown",
    ],
)
def test_a_clock_held_down_by_heat_or_hardware_spoils_a_round(reason: str) -> None:
    assert spoiled_by(DeviceState(throttle=("software power cap", reason))) == reason


@pytest.mark.parametrize("reasons", [(), ("software power cap",), ("sync boost",), ("SwPowerCap",)])
def test_a_power_cap_is_the_normal_state_of_a_busy_device(reasons: tuple[str, ...]) -> None:
    assert spoiled_by(DeviceState(throttle=reasons)) == ""


def test_pauses_grow_up_to_a_limit() -> None:
    patience = Patience(rest_s=0.1, most_rest_s=0.5)
    assert [patience.pause_s(turn) for turn in (1, 2, 3, 4, 100)] == [0.1, 0.2, 0.4, 0.5, 0.5]


def test_a_reader_is_told_of_clocks_that_moved_and_of_heat() -> None:
    states = [DeviceState(clock_mhz=1980.0)] * 5
    states += [DeviceState(clock_mhz=1500.0, throttle=("hardware slowdown",))] * 5
    assert remarks(states) == (
        "the clock moved between 1500 and 1980 MHz",
        "5 of 10 rounds ran under hardware slowdown",
    )


def test_nothing_is_said_of_steady_clocks_or_of_none() -> None:
    assert remarks([DeviceState(clock_mhz=1980.0), DeviceState(clock_mhz=1965.0)]) == ()
    assert remarks([DeviceState()]) == ()
    assert remarks([]) == ()

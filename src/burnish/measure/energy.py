"""Energy per launch, from windows of seconds in pairs: finalists only.

A board's counter moves every 20 to 100 ms and counts the whole board, so a window begins and
ends on its ticks (the device sees to that), lasts many of them, and is compared with the
baseline's window of the same round. What comes out is judged by the rule that judges times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, nan
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from burnish.devices.port import Device, DeviceState, Program, Session
from burnish.devices.worker import stage
from burnish.errors import DeviceError
from burnish.measure.rounds import heartbeat
from burnish.measure.stats import Array
from burnish.measure.verdict import RULE, Rule

__all__ = ["ENERGY_RULE", "Meter", "Metered", "Power", "Window", "per_launch_mj", "window_s"]

ENERGY_RULE: Rule = replace(RULE, rounds=3)
"""As for times, but a round is a window of seconds, so there are fewer of them."""

_LEAST_WINDOW_S = 2.0
_TICKS = 20  # it begins and ends on one, so that only their own jitter is left
_LAUNCHES = 200  # an end may miss one batch of launches
_PROBE_CALLS = 3


class Window(Protocol):
    """What a device used while it launched one program over and over."""

    @property
    def energy_mj(self) -> float:
        """Energy between two ticks of the counter."""

    @property
    def launches(self) -> int:
        """Launches that ended between them."""

    @property
    def span_s(self) -> float:
        """Time between them."""


@runtime_checkable
class Meter(Protocol):
    """A device that can count energy; the CUDA device is one."""

    def energy_window(self, session: Session, program: Program, seconds: float) -> Window:
        """Launch for that long, between two ticks of the counter."""


@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """What windows measured. Arrays have the axes ``[round, program, workload]``.

    Attributes:
        energies_mj: Energy of a launch; NaN for a program with a fault.
        powers_w: Mean power of the window.
        faults: Why a program's figures are void, one text a program; empty for none.
        states: How the device was after each round.
        discarded: Empty: a window of seconds is never thrown away.
    """

    energies_mj: Array
    powers_w: Array
    faults: tuple[str, ...]
    states: tuple[DeviceState, ...] = ()
    discarded: tuple[str, ...] = ()

    @property
    def figures(self) -> Array:
        """What is judged."""
        return self.energies_mj


def window_s(launch_us: float, tick_ms: float = 100.0) -> float:
    """Return how long a window has to be for launches that long and a counter that slow."""
    return max(_LEAST_WINDOW_S, _TICKS * tick_ms / 1e3, _LAUNCHES * launch_us / 1e6)


def per_launch_mj(window: Window) -> float:
    """Return the energy of one launch; NaN for a window that cannot be."""
    return nan if _refusal(window) else window.energy_mj / window.launches


@dataclass(frozen=True, slots=True)
class Metered:
    """Windows in pairs, each program once a round in fresh random order, on every workload.

    Open the sessions under the warm regime: what flushes caches between launches uses energy
    of its own, and would be counted.

    Attributes:
        rounds: How many windows each program gets on each workload.
        tick_ms: How often the counter moves, at worst.
    """

    rounds: int = ENERGY_RULE.rounds
    tick_ms: float = 100.0
    metric: ClassVar[str] = "energy"

    def __call__(
        self,
        device: Device,
        sessions: Mapping[str, Session],
        programs: Sequence[Program],
        rng: np.random.Generator,
    ) -> Power:
        """Measure; program 0 is the baseline.

        Raises:
            DeviceError: The device counts no energy, or the baseline's window cannot be.
        """
        if not isinstance(device, Meter):
            raise DeviceError("this device counts no energy; minimise something else")
        shape = self.rounds, len(programs), len(sessions)
        power = Power(np.full(shape, nan), np.full(shape, nan), ())
        faults = [""] * len(programs)
        names = list(sessions)
        seconds = {name: self._window_s(sessions[name], programs[0]) for name in names}
        states = []
        for turn in range(self.rounds):
            for cell in rng.permutation(len(programs) * len(names)).tolist():
                number, column = divmod(cell, len(names))
                name = names[column]
                stage(heartbeat(number, name))
                sessions[name].restore()
                window = device.energy_window(sessions[name], programs[number], seconds[name])
                faults[number] = faults[number] or _refusal(window)
                power.energies_mj[turn, number, column] = per_launch_mj(window)
                power.powers_w[turn, number, column] = _power_w(window)
            states.append(device.state())
        if faults[0]:
            raise DeviceError(f"the baseline: {faults[0]}")
        return replace(power, faults=tuple(faults), states=tuple(states))

    def _window_s(self, session: Session, baseline: Program) -> float:
        session.restore()
        return window_s(session.time_us(baseline, _PROBE_CALLS), self.tick_ms)


def _power_w(window: Window) -> float:
    return nan if _refusal(window) else window.energy_mj / 1e3 / window.span_s


def _refusal(window: Window) -> str:
    """Say why a window cannot be; empty where it can."""
    sound = window.launches > 0 and isfinite(window.energy_mj) and window.span_s > 0
    if sound and window.energy_mj > 0:
        return ""
    return (
        f"the energy counter says {window.energy_mj:g} mJ for {window.launches} launches in "
        f"{window.span_s:.3g} s, which cannot be"
    )

"""Rounds that a device's clock spoiled: which to repeat, and for how long.

A power cap is the normal state of a kernel that keeps the device busy, so it spoils nothing. A
clock held down by heat or by the hardware does: it speaks of the last minute, not of the kernel.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from burnish.devices.port import DeviceState

__all__ = ["Patience", "remarks", "spoiled_by"]

_SPOILING = ("hardware slowdown", "hwslowdown", "thermal", "power brake", "powerbrake")
_WIDE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Patience:
    """How long spoiled rounds are repeated before they are taken as they are.

    Attributes:
        most_discards: Rounds thrown away at most; a device that is always hot still answers.
        rest_s: Pause after the first spoiled round; it doubles with each one in a row.
        most_rest_s: The longest pause.
    """

    most_discards: int = 20
    rest_s: float = 0.05
    most_rest_s: float = 1.0

    def pause_s(self, in_a_row: int) -> float:
        """Return the pause after so many spoiled rounds in a row (from 1)."""
        return min(self.most_rest_s, self.rest_s * 2.0 ** (in_a_row - 1))


def spoiled_by(state: DeviceState) -> str:
    """Return the reason for which a round must be repeated; empty for none."""
    for reason in state.throttle:
        if any(spoiling in reason.lower() for spoiling in _SPOILING):
            return reason
    return ""


def remarks(states: Sequence[DeviceState]) -> tuple[str, ...]:
    """Say what a reader of the result should know about the clocks of its rounds."""
    said = []
    clocks_mhz = [state.clock_mhz for state in states if state.clock_mhz is not None]
    if clocks_mhz:
        low, high = np.quantile(clocks_mhz, [0.05, 0.95])
        if high - low > _WIDE_SHARE * high:
            said.append(f"the clock moved between {low:.0f} and {high:.0f} MHz")
    held = Counter(spoiled_by(state) for state in states)
    del held[""]
    for reason, rounds in sorted(held.items()):
        said.append(f"{rounds} of {len(states)} rounds ran under {reason}")
    return tuple(said)

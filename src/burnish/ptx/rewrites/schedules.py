"""The values of a schedule: ``MODE/WINDOW/SEED``."""

from dataclasses import dataclass

from burnish.errors import SpaceError
from burnish.model.control import Value
from burnish.ptx.rewrites.inherited import INHERITED

__all__ = ["MODES", "SEEDS", "SOURCE", "WINDOWS", "Schedule", "Schedules", "schedule"]

SOURCE = "source"
MODES = ("early", "late", "critical", "pressure", "interleave", SOURCE)
WINDOWS = (0, 16, 4, 64, 8, 32)
SEEDS = 9999
"""The highest seed."""

_PARTS = 3


@dataclass(frozen=True, slots=True)
class Schedule:
    """How the statements of a block are ordered.

    Attributes:
        mode: Which of the statements that may come next does, one of `MODES`.
        window: How many statements ahead of the first one left it may be; 0 for any.
        seed: What chance decides; 0 for none.
    """

    mode: str
    window: int
    seed: int


@dataclass(frozen=True, slots=True)
class Schedules:
    """All schedules, numbered: as written, then every mode, then smaller windows, then seeds.

    Attributes:
        inherits: Whether the first value is that of the whole kernel.
        windows: The windows that make a difference; 0 is the first.
    """

    inherits: bool
    windows: tuple[int, ...] = WINDOWS

    @property
    def size(self) -> int:
        """How many values there are."""
        return self._seedless + SEEDS * len(self.windows) * len(MODES)

    @property
    def usual(self) -> int:
        """Everything as written, and every mode without window and seed."""
        return len(self._first) + len(MODES) - 1

    @property
    def ordered(self) -> bool:
        """Neighbours are not alike."""
        return False

    def at(self, index: int) -> Value:
        """The value with that number."""
        if index < len(self._first):
            return self._first[index]
        modes, seed = len(MODES) - 1, 0  # without chance, the order as written has one name
        index -= len(self._first)
        if index >= self._seedless - len(self._first):
            index, modes = index - self._seedless + len(self._first), len(MODES)
            seed = 1 + index // (modes * len(self.windows))
        window, mode = divmod(index % (modes * len(self.windows)), modes)
        return f"{MODES[mode]}/{self.windows[window]}/{seed}"

    def index(self, value: Value) -> int:
        """The number of a value."""
        if value in self._first:
            return self._first.index(str(value))
        found = schedule(value)
        if found is None or found.window not in self.windows:
            raise SpaceError(f"value {value!r} is no schedule MODE/WINDOW/SEED of this control")
        mode, window = MODES.index(found.mode), self.windows.index(found.window)
        if found.seed == 0:
            return len(self._first) + window * (len(MODES) - 1) + mode
        turn = (found.seed - 1) * len(self.windows) + window
        return self._seedless + turn * len(MODES) + mode

    @property
    def _first(self) -> tuple[str, ...]:
        return (INHERITED, SOURCE) if self.inherits else (SOURCE,)

    @property
    def _seedless(self) -> int:
        return len(self._first) + len(self.windows) * (len(MODES) - 1)


def schedule(value: Value) -> Schedule | None:
    """Read a value in its one spelling; None for any other."""
    parts = str(value).split("/")
    if len(parts) != _PARTS or not (parts[1].isdecimal() and parts[2].isdecimal()):
        return None
    found = Schedule(parts[0], int(parts[1]), int(parts[2]))
    named = found.mode in MODES and found.window in WINDOWS and found.seed <= SEEDS
    is_spelled = value == f"{found.mode}/{found.window}/{found.seed}"
    is_source = found.mode == SOURCE and found.seed == 0
    return found if named and is_spelled and not is_source else None

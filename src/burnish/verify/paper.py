"""The cases of one workload with the plain kernel's answers, as many as memory allows."""

from collections.abc import Iterator
from dataclasses import dataclass

from burnish.bundle.layout import roots
from burnish.devices.port import Regime
from burnish.verify.answers import written_roots
from burnish.verify.cases import Case, extra_cases, search_cases
from burnish.verify.expected import Expected, Plain, check_sound, expect
from burnish.verify.guard import Poison
from burnish.verify.oracle import Reference
from burnish.verify.yardsticks import Yardsticks

__all__ = ["Paper", "Plan"]

_REPEAT_BYTES = 64 << 20  # what launches that are repeated may write in all
_RUNS = 3  # of the plain kernel on the first case, to see whether its answers repeat
_WATCH_S = 0.25  # and for how long more, where they are quick


@dataclass(frozen=True, slots=True)
class Plan:
    """How candidates are checked.

    Attributes:
        seed: The study's seed: sets the inputs.
        repeats: Most launches on the first inputs during a search.
        final_repeats: The same in the final check.
        memory_bytes: Memory for the inputs and answers of all workloads that are kept for
            all candidates.
        regime: Under which the sessions time.
        reference: The user's reference function, or None.
        must_repeat: Whether the plain kernel's answers must repeat bit by bit; else they may
            differ by rounding, as float atomics make them.
        is_proved: Whether the plain kernel's answers to these inputs were found sound by
            another process: then they are only taken again.
    """

    seed: int = 0
    repeats: int = 3
    final_repeats: int = 10
    memory_bytes: int = 4 << 30
    regime: Regime = Regime.COLD
    reference: Reference | None = None
    must_repeat: bool = False
    is_proved: bool = False


class Paper:
    """Cases and answers of one workload.

    What does not fit into memory is left out of the search, the first case excepted, and made
    anew for each final check.

    Args:
        plain: The plain kernel on its stand.
        plan: How to check.
        share_bytes: Memory for this workload.
        yardsticks: Those of this workload.

    Raises:
        LaunchError: The plain kernel's answers are none that others can be held against.
    """

    def __init__(self, plain: Plain, plan: Plan, share_bytes: int, yardsticks: Yardsticks) -> None:
        self._plain = plain
        self._plan = plan
        self._cases = search_cases(plain.album.workload, plan.seed)
        self._extra = extra_cases(plain.album.workload, plan.seed)
        self._kept: dict[int, Expected] = {}
        self._room = _room(plain, share_bytes)
        self.first = self._expected(0)
        if not plan.is_proved:
            check_sound(plain, self.first)
            yardsticks.check_reference(self.first)

    @property
    def left_out(self) -> int:
        """How many cases the search does without, for want of memory."""
        open_cases = sum(not case.is_hidden for case in self._cases)
        return max(0, open_cases - self._room)

    def search(self) -> Iterator[Expected]:
        """What every candidate of a search is held against."""
        numbers = [at for at, case in enumerate(self._cases) if not case.is_hidden]
        for number in numbers[: self._room]:
            yield self._expected(number)
        if len(numbers[: self._room]) == 1:
            yield self._other()

    def final(self) -> Iterator[Expected]:
        """What a finalist is held against: everything, the hidden inputs included."""
        for number in range(len(self._cases)):
            yield self._expected(number)
        if len(self._cases) == 1:
            yield self._other()

    def extra(self) -> Iterator[Expected]:
        """What an unproven candidate is held against beside that."""
        for number in range(len(self._cases), len(self._cases) + len(self._extra)):
            yield self._expected(number)

    def repeats(self, *, is_final: bool) -> int:
        """How often a candidate is launched on the first case."""
        places, workload = self._plain.album.places, self._plain.album.workload
        moved = sum(places[root.name].total_bytes for root in written_roots(workload))
        most = self._plan.final_repeats if is_final else self._plan.repeats
        return max(min(2, most), min(most, _REPEAT_BYTES // max(1, moved)))

    def _expected(self, number: int) -> Expected:
        if number in self._kept:
            return self._kept[number]
        keep = number < self._room
        expected = self._made([*self._cases, *self._extra][number], number, keep=keep)
        if keep:
            self._kept[number] = expected
        return expected

    def _made(self, case: Case, number: int, *, keep: bool) -> Expected:
        # Neighbours in the order of launches differ in what lies where nobody wrote.
        poison = Poison.MIXED if number % 2 else Poison.ALL_ONES
        images = self._plain.album.make(case, poison)
        within_s = _WATCH_S if number == 0 and not self._plan.is_proved else 0.0
        runs = _RUNS if number == 0 else 2
        return expect(self._plain, images, runs=runs, keep=keep, within_s=within_s)

    def _other(self) -> Expected:
        """The first case with the other pattern in the memory that nobody filled."""
        if -1 not in self._kept:
            images = self._plain.album.other(self.first.images)
            self._kept[-1] = expect(self._plain, images, runs=2, keep=True)
        return self._kept[-1]


def _room(plain: Plain, share_bytes: int) -> int:
    """How many cases fit into memory; one always does."""
    album = plain.album
    answers = sum(album.places[root.name].total_bytes for root in written_roots(album.workload))
    whole = sum(album.places[root.name].total_bytes for root in roots(album.workload))
    shared = 2 * (whole - album.case_bytes)  # once with each pattern
    return max(1, (share_bytes - shared) // max(1, album.case_bytes + answers))

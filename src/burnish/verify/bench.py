"""Checks candidates on one workload: every case, then once more, and says what went wrong."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from burnish.bundle.layout import is_written, roots
from burnish.devices.port import Program
from burnish.errors import DeviceError
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.verify.answers import Answer, alike, answer, hangs_on_poison, written_roots
from burnish.verify.expected import Expected, Plain, check_comparable
from burnish.verify.guard import breach
from burnish.verify.judge import Finding, Judge
from burnish.verify.stand import Stand

__all__ = ["Bench", "Candidate"]

_PROOFS = 4
_RARE = 16  # launches of the plain kernel before a candidate is found unstable


@dataclass(frozen=True, slots=True)
class Candidate:
    """A loaded binary and what it must show."""

    program: Program
    demand: Risk


class Bench:
    """One workload on a device, with the plain kernel beside it."""

    def __init__(self, plain: Plain, judge: Judge) -> None:
        self.plain = plain
        self._album = plain.album
        self._workload = plain.album.workload
        self._stand = plain.stand
        self._judge = judge
        self._before: Expected | None = None  # the case before this one

    def check(
        self, candidate: Candidate, cases: Iterable[Expected], repeats: int, *, thorough: bool
    ) -> Finding:
        """Launch a candidate on every case; leaves at the first one that it fails.

        Args:
            candidate: The candidate.
            cases: What the plain kernel answers; the first one is launched repeatedly.
            repeats: How often it is launched on the first case.
            thorough: Whether buffers that are only read are looked at after every case, and
                not only after the first one.

        Raises:
            DeviceError: A launch failed, or the plain kernel no longer answers as it did.
        """
        self._before, demanded = None, ""
        for expected in cases:
            is_first = self._before is None
            runs = repeats if is_first else 1
            finding = self._case(candidate, expected, runs, look=is_first or thorough)
            if not finding.is_right:
                return self._placed(finding, expected)
            demanded = demanded or self._judge.demanded(expected, candidate.demand)
            self._before = expected
        return Finding(Status.OK, demanded)

    def recheck(self, candidate: Candidate, expected: Expected, stand: Stand) -> Finding:
        """Check what the last timed launch left; in-place kernels are launched once more."""
        if any(root.fill for root in written_roots(self._workload)):
            stand.rerun(candidate.program)
        return self.left_behind(candidate.demand, expected, stand)

    def left_behind(self, demand: Risk, expected: Expected, stand: Stand) -> Finding:
        """Check what a launch on a case's inputs left."""
        left = {
            name: stand.image(name)
            for name, wanted in expected.after.items()
            if not stand.holds(name, wanted, keep=expected.keep)
        }
        finding = Finding(Status.OK, self._judge.demanded(expected, demand))
        finding = self._inputs(stand, expected, finding)
        if left and self._judge.ready(expected, demand):
            self._stand.set(expected.images.before, keep=expected.keep)
        faults = (self._judge.fault(expected, name, image, demand) for name, image in left.items())
        fault = next(filter(None, faults), "")
        if fault:
            return self._placed(Finding(Status.WRONG, f"after timing: {fault}"), expected)
        return finding

    def _case(self, candidate: Candidate, expected: Expected, runs: int, *, look: bool) -> Finding:
        """Launch on one set of inputs; ``look``: whether those may have changed."""
        self._judge.ready(expected, candidate.demand)
        self._stand.set(expected.images.before, keep=expected.keep)
        self._stand.run(candidate.program)
        fault = self._fault(self._stand, expected, candidate.demand)
        if fault:
            return self._explained(candidate, expected, fault)
        right = Finding(Status.OK, "")
        if look:
            finding = self._inputs(self._stand, expected, right)
            if not finding.is_right:
                return self._proved(candidate, expected, finding)
        return self._repeated(candidate, expected, runs) if runs > 1 else right

    def _repeated(self, candidate: Candidate, expected: Expected, runs: int) -> Finding:
        """Launch again on inputs to which the first answer was right."""
        own = self._own(expected, candidate.demand)
        try:
            for run in range(1, runs):
                self._stand.rerun(candidate.program)
                finding = self._once_more(candidate, expected, own, run)
                if not finding.is_right:
                    return self._proved(candidate, expected, finding)
        finally:
            self._stand.drop({n: one for n, one in own.items() if one is not expected.after[n]})
        return Finding(Status.OK, "")

    def _once_more(
        self, candidate: Candidate, expected: Expected, own: Answer, run: int
    ) -> Finding:
        """Whether a further launch gave the first one's bits, or a right answer at least."""
        if own and not alike(self._album, own, answer(self._stand, self._workload, own)):
            return Finding(Status.UNSTABLE, "other bits on each launch with the same inputs")
        fault = "" if own else self._fault(self._stand, expected, candidate.demand)
        if not fault:
            return Finding(Status.OK, "")
        launches = "launch" if run == 1 else f"{run} launches"
        words = f"right on the first {launches}, wrong on the next one: {fault}"
        return self._inputs(self._stand, expected, Finding(Status.UNSTABLE, words))

    def _own(self, expected: Expected, demand: Risk) -> Answer:
        """A candidate's own answer, where it may be another one but must repeat; else empty."""
        if demand is not Risk.ROUNDING or not expected.is_repeatable:
            return {}
        return {
            name: wanted
            if self._stand.holds(name, wanted, keep=expected.keep)
            else self._stand.grab(name)
            for name, wanted in expected.after.items()
        }

    def _fault(self, stand: Stand, expected: Expected, demand: Risk) -> str:
        for name, wanted in expected.after.items():
            if not stand.holds(name, wanted, keep=expected.keep):
                fault = self._judge.fault(expected, name, stand.image(name), demand)
                if fault:
                    return fault
        return ""

    def _inputs(self, stand: Stand, expected: Expected, finding: Finding) -> Finding:
        """The finding, unless buffers that are only read changed."""
        for root in roots(self._workload):
            before = expected.images.before[root.name]
            if is_written(self._workload, root) or stand.holds(
                root.name, before, keep=expected.keep
            ):
                continue
            place, poison = self._album.places[root.name], expected.images.poison[root.name]
            why = breach(root.name, stand.image(root.name), place, poison)
            return Finding(Status.WRONG, why or f"changes its input {root.name}")
        return finding

    def _explained(self, candidate: Candidate, expected: Expected, fault: str) -> Finding:
        """Why an answer is wrong, as far as another launch or two can tell."""
        one, plainly = answer(self._stand, self._workload), Finding(Status.WRONG, fault)
        finding = self._inputs(self._stand, expected, plainly)
        if finding is plainly:
            finding = self._compared(candidate, expected, one, plainly)
        return self._proved(candidate, expected, finding)

    def _compared(
        self, candidate: Candidate, expected: Expected, one: Answer, plainly: Finding
    ) -> Finding:
        """A better reason for a wrong answer, where more launches show one."""
        fault = plainly.message
        self._stand.set(expected.images.before, keep=expected.keep)
        self._stand.run(candidate.program)
        if not alike(self._album, one, answer(self._stand, self._workload)):
            return Finding(Status.UNSTABLE, f"other bits on each launch, and wrong: {fault}")
        if self._before is not None and alike(self._album, one, self._before.after):
            return Finding(Status.WRONG, f"gives the answer to the inputs before: {fault}")
        other = self._album.other(expected.images)
        self._stand.set(other.before, keep=False)
        self._stand.run(candidate.program)
        two = answer(self._stand, self._workload)
        hung = hangs_on_poison(self._album, (one, expected.images), (two, other))
        if hung:
            return Finding(Status.WRONG, f"reads {hung} before anybody wrote it: {fault}")
        return plainly

    def _proved(self, candidate: Candidate, expected: Expected, finding: Finding) -> Finding:
        """The finding, if the plain kernel still answers as it did.

        Where its answers turn out to differ from launch to launch, that is remembered and the
        candidate is judged again.
        """
        if not expected.is_repeatable:
            return finding
        runs = self._plain_runs(expected, _RARE if finding.status is Status.UNSTABLE else 1)
        if not runs:
            return finding
        if all(alike(self._album, runs[0], one) for one in runs):
            raise DeviceError(
                f"workload {self._workload.name!r}: the plain kernel no longer gives the answer "
                "that it gave before: the device is not healthy, a candidate damaged it, or the "
                "kernel keeps something between launches"
            )
        check_comparable(self.plain, expected.images, [expected.after, *runs])
        expected.runs = [expected.after, *runs]
        expected.sticks.clear()
        return self._case(candidate, expected, 1, look=True)

    def _plain_runs(self, expected: Expected, proofs: int) -> list[Answer]:
        """Some answers of the plain kernel; empty where it answers as it did, time and again."""
        self._stand.set(expected.images.before, keep=expected.keep)
        runs: list[Answer] = []
        for _ in range(proofs):
            self._stand.rerun(self.plain.program)
            runs = [*runs[-1:], answer(self._stand, self._workload, expected.after)]
            if not alike(self._album, expected.after, runs[-1]):
                for _ in range(_PROOFS):
                    self._stand.rerun(self.plain.program)
                    runs.append(answer(self._stand, self._workload))
                return runs
        return []

    def _placed(self, finding: Finding, expected: Expected) -> Finding:
        case = expected.images.case
        scale = f", scale {case.scale:g}" if case.scale != 1.0 else ""
        where = f"workload {self._workload.name}, inputs {case.seed}{scale}"
        return replace(finding, message=f"{finding.message} ({where})")

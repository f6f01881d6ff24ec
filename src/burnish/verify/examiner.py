"""Checks candidates against the plain kernel on all workloads. Lives in a worker."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import chain

from burnish.devices.port import Device, Image, Place, Program, Session
from burnish.errors import UsageError
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.model.workload import Workload
from burnish.verify.bench import Bench, Candidate
from burnish.verify.expected import Plain
from burnish.verify.images import Album
from burnish.verify.judge import Finding, Judge
from burnish.verify.paper import Paper, Plan
from burnish.verify.stand import Stand
from burnish.verify.yardsticks import Yardsticks

__all__ = ["Examiner"]

Watch = Callable[[str], AbstractContextManager[object]]


class Examiner:
    """Holds a session a workload, inputs, and the plain kernel's answers.

    Sessions are opened at once; the plain kernel runs on a workload when that is first needed,
    or in `prepare`.

    Args:
        device: The device.
        baseline: The plain kernel, loaded on it; it must stay loaded.
        workloads: All of them, those that are held out included.
        plan: How to check.
    """

    def __init__(
        self, device: Device, baseline: Program, workloads: Sequence[Workload], plan: Plan
    ) -> None:
        self._plan = plan
        self._desks = {
            workload.name: _Desk(device, baseline, workload, plan) for workload in workloads
        }
        self._share_bytes = plan.memory_bytes // max(1, len(workloads))

    def prepare(self, *, is_final: bool = False, watched: Watch = nullcontext) -> None:
        """Run the plain kernel on what will be needed.

        Args:
            is_final: Whether for the final check.
            watched: Entered for each launch, with the name of the workload.

        Raises:
            LaunchError: Its answers are none that a candidate can be held against.
            DeviceError: A launch failed.
        """
        for desk in self._used(is_final=is_final):
            desk.stand.watched = partial(watched, desk.album.workload.name)
            paper = desk.paper(self._share_bytes)
            for _ in paper.final() if is_final else paper.search():
                pass
            desk.stand.watched = nullcontext

    def examine(
        self, program: Program, demand: Risk = Risk.EXACT, *, is_final: bool = False
    ) -> Finding:
        """Check a candidate on every workload.

        Args:
            program: The candidate, loaded on the same device.
            demand: What it must show.
            is_final: Whether it is also checked on workloads that are held out and on the
                hidden inputs, with more launches.

        Returns:
            OK and what was demanded, or the first thing that is wrong.

        Raises:
            DeviceError: A launch failed, or the plain kernel no longer answers as it did.
        """
        finding = Finding(Status.OK, "")
        candidate = Candidate(program, demand)
        for desk in self._used(is_final=is_final):
            paper = desk.paper(self._share_bytes)
            cases = paper.final() if is_final else paper.search()
            if demand is Risk.UNPROVEN:
                cases = chain(cases, paper.extra())
            finding = desk.bench.check(
                candidate, cases, paper.repeats(is_final=is_final), thorough=is_final
            )
            if not finding.is_right:
                return finding
        return finding

    def start(self, workload: str) -> tuple[Mapping[str, Place], Mapping[str, Image]]:
        """Where the buffers of a workload lie, and what they hold where it is timed."""
        desk = self._desk(workload)
        paper = desk.paper(self._share_bytes)
        return desk.album.places, paper.first.images.before

    def session(self, workload: str) -> Session:
        """The examiner's own session of a workload, set to what is timed."""
        desk = self._desk(workload)
        desk.stand.set(desk.paper(self._share_bytes).first.images.before, keep=True)
        return desk.stand.session

    def recheck(
        self, workload: str, program: Program, demand: Risk, session: Session | None = None
    ) -> Finding:
        """Check what the last launch of a timed candidate left behind.

        Restore the session before the candidate is timed, and call this before anything else
        is launched in it: else another program's answer is looked at.

        Args:
            workload: Name of the workload.
            program: The candidate.
            demand: What it must show.
            session: The session in which it was timed, set to what `start` says; None for
                the examiner's own.
        """
        desk = self._desk(workload)
        stand = desk.stand if session is None else Stand(session)
        first = desk.paper(self._share_bytes).first
        return desk.bench.recheck(Candidate(program, demand), first, stand)

    def left_behind(self, workload: str, demand: Risk, session: Session) -> Finding:
        """Check what one timed launch, on what `start` says, left in a session.

        Like `recheck`, but launches nothing: both devices bring back what a launch updates in
        place before each launch that they time.
        """
        desk = self._desk(workload)
        stand = desk.stand if session is desk.stand.session else Stand(session)
        return desk.bench.left_behind(demand, desk.paper(self._share_bytes).first, stand)

    @property
    def notes(self) -> Sequence[str]:
        """What people should know about the checks made so far."""
        return [note for desk in self._desks.values() for note in desk.notes()]

    def _used(self, *, is_final: bool) -> Sequence["_Desk"]:
        return [
            desk for desk in self._desks.values() if is_final or not desk.album.workload.held_out
        ]

    def _desk(self, workload: str) -> "_Desk":
        if workload not in self._desks:
            known = ", ".join(self._desks)
            raise UsageError(f"there is no workload {workload!r}; there are: {known}")
        return self._desks[workload]


class _Desk:
    """Everything for one workload."""

    def __init__(self, device: Device, baseline: Program, workload: Workload, plan: Plan) -> None:
        self.album = Album(workload)
        self.stand = Stand(device.open(workload, self.album.places, plan.regime))
        self._plain = Plain(baseline, self.stand, self.album, plan.must_repeat)
        self._yardsticks = Yardsticks(self._plain, plan.reference)
        self.bench = Bench(self._plain, Judge(self.album, self._yardsticks))
        self._plan = plan
        self._paper: Paper | None = None

    def paper(self, share_bytes: int) -> Paper:
        """Its cases; the plain kernel runs when they are first asked for."""
        if self._paper is None:
            self._paper = Paper(self._plain, self._plan, share_bytes, self._yardsticks)
        return self._paper

    def notes(self) -> list[str]:
        """What people should know."""
        if self._paper is None:
            return []
        name, said = self.album.workload.name, list[str]()
        if not self._paper.first.is_repeatable:
            said.append(
                f"workload {name}: the baseline is not repeatable: its own answers differ from "
                "launch to launch, by rounding; candidates are held against its error, not its bits"
            )
        if self._paper.left_out:
            said.append(
                f"workload {name}: {self._paper.left_out} sets of inputs are left out of the "
                "search for want of memory; the final check uses them"
            )
        return said

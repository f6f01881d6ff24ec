"""A confirming process's inputs and answers: made anew in it, never sent to it."""

from collections.abc import Mapping
from dataclasses import replace

from burnish.devices.port import Device, Session
from burnish.evaluate.lane import LaneSetup
from burnish.model.control import Risk
from burnish.verify.examiner import Examiner

__all__ = ["ConfirmingStand"]


class ConfirmingStand:
    """Opens the sessions of a `burnish.measure.sitting.Sitting` and checks what is left in them.

    It is pickled before it is used; what it holds afterwards belongs to its process.

    Args:
        setup: As of the search.
        demand: What the answers of every finalist must show.
    """

    def __init__(self, setup: LaneSetup, demand: Risk) -> None:
        self._setup = setup
        self._demand = demand
        self._examiner: Examiner | None = None

    def open(self, device: Device) -> Mapping[str, Session]:
        """A session a workload, held-out ones included, set to what is timed."""
        setup = self._setup
        baseline = device.load(setup.baseline.image, setup.baseline.entry)
        # The search's worker found the plain build's answers sound, or there were no finalists.
        plan = replace(setup.checking, is_proved=True)
        self._examiner = Examiner(device, baseline, setup.workloads, plan)
        return {one.name: self._examiner.session(one.name) for one in setup.workloads}

    def recheck(self, workload: str, session: Session) -> str:
        """What is wrong with the answers that one launch left; empty for right ones."""
        assert self._examiner is not None, "opened first"
        finding = self._examiner.left_behind(workload, self._demand, session)
        return "" if finding.is_right else finding.message

"""What was measured about finalists, for a verdict to be drawn from."""

from dataclasses import dataclass

import numpy as np

from burnish.measure.stats import Array
from burnish.model.workload import Workload

__all__ = ["COPY", "FIRST", "Evidence"]

COPY = 1  # program 1 is the baseline again, loaded a second time: the A/A pair
FIRST = 2  # the finalists follow


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Figures of the baseline, its copy and the finalists, all from fresh rounds.

    Attributes:
        metric: What the figures are of.
        figures: ``[process, round, program, workload]``, in the metric's unit; smaller is better.
        workloads: Along the last axis.
        faults: Why a program cannot win whatever its figures, one text a program; empty for none.
        remarks: What a reader should know: clocks that moved, rounds that were thrown away.
    """

    metric: str
    figures: Array
    workloads: tuple[Workload, ...]
    faults: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    @property
    def finalists(self) -> int:
        """How many there are."""
        return len(self.faults) - FIRST

    @property
    def weights(self) -> Array:
        """Share of each workload in what is judged: the held-out ones, where there are any.

        A gain on what a candidate was chosen by says less than one on what it never saw.
        """
        is_held_out = np.array([workload.held_out for workload in self.workloads])
        judged = is_held_out if is_held_out.any() else ~is_held_out
        weights = np.array([workload.weight for workload in self.workloads]) * judged
        return np.asarray(weights / weights.sum(), np.float64)

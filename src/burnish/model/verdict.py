"""What was decided about a tuned candidate, and on what evidence."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Outcome", "Verdict"]


class Outcome(StrEnum):
    """The five answers."""

    BETTER = "BETTER"
    SAME = "SAME"
    WORSE = "WORSE"
    UNSURE = "UNSURE"
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome with its evidence.

    Attributes:
        outcome: The answer.
        metric: The metric it speaks of.
        baseline: The baseline's figure, in the metric's unit.
        tuned: The candidate's figure, in the metric's unit.
        ratio: Baseline ÷ tuned, where it was measured: above 1 is better.
        interval: Confidence interval of the ratio, where it was measured.
        reason: Why, in a sentence.
    """

    outcome: Outcome
    metric: str
    baseline: float  # house: unit is the metric's own
    tuned: float  # house: unit is the metric's own
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    reason: str = ""

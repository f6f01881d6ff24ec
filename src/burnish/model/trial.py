"""A trial: a config and everything that happened to it."""

from dataclasses import dataclass, field
from enum import StrEnum

from burnish.model.frozen import FrozenMap
from burnish.model.space import Config

__all__ = ["Status", "Trial"]


class Status(StrEnum):
    """How a trial ended. Everything but OK and DUPLICATE is a failure, with its reason."""

    OK = "ok"
    DUPLICATE = "duplicate"  # its binary is that of an earlier trial
    REFUSED = "refused"  # a compiler said no
    COMPILE_TIMEOUT = "compile-timeout"
    COMPILE_CRASH = "compile-crash"  # killed by a signal, out of memory, or half an output
    OVER_LIMIT = "over-limit"  # a --limit was passed
    FAULT = "fault"  # the run ended its worker
    HANG = "hang"  # the run passed its time limit
    WRONG = "wrong"  # another answer than the baseline's
    UNSTABLE = "unstable"  # its own answers differ from run to run
    TIMER = "timer"  # a time that cannot be
    INVALID = "invalid"  # the user's objective said so
    RAISED = "raised"  # the user's objective raised
    MALFORMED = "malformed"  # the user's objective returned what is no figure
    TIMEOUT = "timeout"  # the user's objective passed its time limit

    @property
    def failed(self) -> bool:
        """Whether the trial has no figures to compare."""
        return self not in {Status.OK, Status.DUPLICATE}


@dataclass(frozen=True, slots=True)
class Trial:
    """A config and what happened to it.

    Attributes:
        number: Place in the order of asking, from 0; trial 0 is the default config.
        config: The config.
        status: How it ended.
        figures: Metric name to figure, in the metric's unit; empty where it failed. A
            duplicate has the figures of the trial it repeats.
        binary: Binary digest, where it got that far.
        duplicate_of: Number of the trial with the same binary.
        message: What the compiler, the check or the objective said; bounded in length.
        rounds: How many paired rounds its runtime rests on; 0 where nothing was timed.
        seconds: Stage name to seconds spent.
    """

    number: int
    config: Config
    status: Status
    figures: FrozenMap[float] = field(default_factory=FrozenMap)
    binary: str = ""
    duplicate_of: int | None = None
    message: str = ""
    rounds: int = 0
    seconds: FrozenMap[float] = field(default_factory=FrozenMap)

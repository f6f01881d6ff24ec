"""A control: one decision of a compiler, with the values it may take."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from burnish.errors import SpaceError

__all__ = ["Choice", "Control", "Domain", "Layer", "Range", "Risk", "Value"]

Value: TypeAlias = bool | int | float | str


class Layer(StrEnum):
    """Which compiler takes the decision, in the order of the way to machine code."""

    USER = "user"
    TRITON = "triton"
    CLANG = "clang"
    NVCC = "nvcc"
    PTX = "ptx"
    PTXAS = "ptxas"
    OPAQUE = "opaque"
    HOST = "host"


class Risk(StrEnum):
    """What a candidate must show before it may win. A demand, not a promise."""

    EXACT = "exact"
    CONDITIONAL = "conditional"
    ROUNDING = "rounding"
    UNPROVEN = "unproven"


class Domain(Protocol):
    """The values of a control, numbered: usual ones first, then exotic ones."""

    @property
    def size(self) -> int:
        """How many values there are."""

    @property
    def usual(self) -> int:
        """How many of the first values people use every day; the rest are exotic."""

    @property
    def ordered(self) -> bool:
        """Whether neighbouring numbers are alike (so that steps make sense)."""

    def at(self, index: int) -> Value:
        """The value with that number, 0 ≤ index < size."""

    def index(self, value: Value) -> int:
        """The number of a value.

        Raises:
            SpaceError: The value is not in the domain.
        """


@dataclass(frozen=True, slots=True)
class Choice:
    """A list of values.

    Attributes:
        values: The values, usual ones first. No two may be the same.
        usual_count: How many of them are usual; None for all.
        is_ordered: Whether neighbours in the list are alike.
    """

    values: tuple[Value, ...]
    usual_count: int | None = None
    is_ordered: bool = False

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def usual(self) -> int:
        """How many of the first values are usual."""
        return self.size if self.usual_count is None else self.usual_count

    @property
    def ordered(self) -> bool:
        """Whether neighbours in the list are alike."""
        return self.is_ordered

    def at(self, index: int) -> Value:
        """The value with that number."""
        return self.values[index]

    def index(self, value: Value) -> int:
        """The number of a value; True and 1 are different values."""
        for number, known in enumerate(self.values):
            if known == value and isinstance(known, bool) == isinstance(value, bool):
                return number
        raise SpaceError(f"value {value!r} is not one of {_listed(self.values)}")


@dataclass(frozen=True, slots=True)
class Range:
    """The whole numbers ``low``, ``low + step``, … up to and including ``high``."""

    low: int
    high: int
    step: int = 1

    @property
    def size(self) -> int:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1

    @property
    def usual(self) -> int:
        """All values of a range are usual."""
        return self.size

    @property
    def ordered(self) -> bool:
        """Neighbours in a range are alike."""
        return True

    def at(self, index: int) -> Value:
        """The value with that number."""
        return self.low + index * self.step

    def index(self, value: Value) -> int:
        """The number of a value."""
        if isinstance(value, int) and not isinstance(value, bool):
            number, rest = divmod(value - self.low, self.step)
            if rest == 0 and 0 <= number < self.size:
                return number
        raise SpaceError(f"value {value!r} is not in {self.low}..{self.high} step {self.step}")


@dataclass(frozen=True, slots=True)
class Control:
    """One decision of a compiler.

    Attributes:
        name: Layer and decision, such as ``ptxas.maxrregcount``.
        layer: The compiler that takes it.
        domain: The values it may take.
        default: The value of the plain build; always in the domain.
        risk: What a candidate that uses it must show.
        meaning: One sentence for people.
        source: Where its meaning is publicly documented.
        option: How a command line says it, with ``{}`` for the value; empty where it is no
            option. The default is said by leaving the option out, unless the plain build
            has it.
        riskier: Values whose risk is another than ``risk``.
    """

    name: str
    layer: Layer
    domain: Domain
    default: Value
    risk: Risk
    meaning: str
    source: str
    option: str = ""
    riskier: tuple[tuple[Value, Risk], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a default outside of the domain."""
        try:
            self.domain.index(self.default)
        except SpaceError as error:
            raise SpaceError(f"{self.name}: the default {error}") from None

    def risk_of(self, value: Value) -> Risk:
        """What a candidate with this value must show."""
        for risky, risk in self.riskier:
            if risky == value and isinstance(risky, bool) == isinstance(value, bool):
                return risk
        return self.risk


def _listed(values: Sequence[Value], most: int = 12) -> str:
    shown = ", ".join(repr(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown}, … ({len(values)} values)"

"""How hard candidates are looked at, by device."""

from burnish.evaluate.bench import Rules
from burnish.measure.race import Racing, Screening

__all__ = ["rules_for"]

# A host compiles and times on the same cores, and a kernel there takes milliseconds: fewer start,
# and fewer are confirmed, which takes as long as all of the search otherwise.
_HOST = Rules(
    Screening(glance_rounds=2, rounds=5),
    Racing(entrants=16, block_rounds=8, looks=3, keep=4),
)
_CARD = Rules()


def rules_for(kind: str) -> Rules:
    """The rules for a kind of device: ``host`` or ``cuda``."""
    return _HOST if kind == "host" else _CARD

"""A study: what a search was given, and how far it came."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from burnish.errors import StoreError
from burnish.model.frozen import FrozenMap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Json", "Study", "StudyStatus", "differing"]

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

_NAME_MOST = 200
_SHOWN = 60


class StudyStatus(StrEnum):
    """How far a study is. One that was killed stays RUNNING; its `updated` tells."""

    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Study:
    """A search with everything that its course depends on.

    Attributes:
        name: What the user calls it; unique in its store.
        kernel: The kernel's name, for people.
        objective: The metrics to minimise, for people.
        inputs: What the trials depend on, by name: kernel key, space, options, toolchain,
            seed, jobs … Another value of any of them is another study.
        about: Whatever else is worth keeping; two runs of one study may differ in it.
        status: How far it is; kept by the store.
        created: UTC time of its first run, ISO 8601; kept by the store.
        updated: UTC time of the latest change; kept by the store.
        trials: How many trials are stored; kept by the store.
    """

    name: str
    kernel: str
    objective: str
    inputs: FrozenMap[str]
    about: FrozenMap[Json] = field(default_factory=FrozenMap, hash=False)
    status: StudyStatus = StudyStatus.RUNNING
    created: str = ""
    updated: str = ""
    trials: int = 0

    def __post_init__(self) -> None:
        """Refuse a name that cannot be typed."""
        if not self.name.strip() or not self.name.isprintable() or len(self.name) > _NAME_MOST:
            raise StoreError(
                f"study name {self.name[:_SHOWN]!r}: use 1 to {_NAME_MOST} printable characters"
            )


def differing(stored: Study, new: Study) -> list[str]:
    """What differs between the inputs of two studies, a phrase for each part."""
    names = dict.fromkeys([*stored.inputs, *new.inputs])
    return [
        f"{name} was {_shown(stored.inputs.get(name))}, is {_shown(new.inputs.get(name))}"
        for name in names
        if stored.inputs.get(name) != new.inputs.get(name)
    ]


def _shown(value: str | None) -> str:
    if value is None:
        return "not given"
    return repr(value) if len(value) <= _SHOWN else repr(value[: _SHOWN - 1] + "…")

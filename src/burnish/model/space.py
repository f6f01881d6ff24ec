"""The space of a kernel, and the configs in it."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from burnish.errors import SpaceError
from burnish.model.control import Control, Value
from burnish.model.frozen import FrozenMap

__all__ = ["Condition", "Config", "Constraint", "Space"]


class Config(FrozenMap[Value]):
    """One value for every control of a space. Made by `Space.config`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """``control`` decides something only where ``parent`` has one of ``values``."""

    control: str
    parent: str
    values: tuple[Value, ...]


class Constraint(Protocol):
    """A rule over several controls; true where the config is allowed."""

    def __call__(self, config: Config, /) -> bool:
        """Whether the config is allowed."""


@dataclass(frozen=True)
class Space:
    """All controls that apply to a kernel, toolchain and target, with their conditions.

    Attributes:
        controls: The controls; their order is the order of a config's values.
        conditions: Which controls count only where another has certain values. Elsewhere
            they take their default, so that equal decisions are equal configs.
        constraints: Rules that every config keeps.
    """

    controls: tuple[Control, ...]
    conditions: tuple[Condition, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    _by_name: dict[str, Control] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse two controls of one name, and conditions on unknown ones."""
        by_name = {control.name: control for control in self.controls}
        if len(by_name) != len(self.controls):
            names = [control.name for control in self.controls]
            twice = sorted({name for name in names if names.count(name) > 1})
            raise SpaceError(f"two controls have the name {twice[0]!r}; names must differ")
        object.__setattr__(self, "_by_name", by_name)
        place = {name: number for number, name in enumerate(by_name)}
        for condition in self.conditions:
            parent, child = self[condition.parent], self[condition.control]
            if place[parent.name] > place[child.name]:
                raise SpaceError(f"{child.name} depends on {parent.name}, which comes after it")
        # In the order of the controls, one pass over the conditions settles a config.
        ordered = sorted(self.conditions, key=lambda condition: place[condition.control])
        object.__setattr__(self, "conditions", tuple(ordered))

    def __getitem__(self, name: str) -> Control:
        if name not in self._by_name:
            known = ", ".join(self._by_name) or "no control"
            raise SpaceError(f"unknown control {name!r}; this space has: {known}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Control]:
        return iter(self.controls)

    def __len__(self) -> int:
        return len(self.controls)

    @property
    def default(self) -> Config:
        """The config of the plain build."""
        return Config({control.name: control.default for control in self.controls})

    @property
    def size(self) -> int:
        """How many configs there are at most: conditions and constraints only lower it."""
        return math.prod(control.domain.size for control in self.controls)

    def config(self, values: Mapping[str, Value]) -> Config:
        """Make a config: values left out are defaults, inactive ones are set to it.

        Raises:
            SpaceError: An unknown control, or a value outside of its domain.
        """
        for name, value in values.items():
            try:
                self[name].domain.index(value)
            except SpaceError as error:
                raise SpaceError(str(error) if name not in self else f"{name}: {error}") from None
        return self.settle(values)

    def settle(self, values: Mapping[str, Value]) -> Config:
        """Like `config`, for values known to lie in their domains."""
        settled = {
            control.name: values.get(control.name, control.default) for control in self.controls
        }
        for condition in self.conditions:
            if settled[condition.parent] not in condition.values:
                settled[condition.control] = self._by_name[condition.control].default
        return Config(settled)

    def allows(self, config: Config) -> bool:
        """Whether the config keeps every constraint."""
        return all(constraint(config) for constraint in self.constraints)

    def changes(self, config: Config) -> dict[str, Value]:
        """What differs from the default, in the order of the controls."""
        return {
            control.name: config[control.name]
            for control in self.controls
            if (config[control.name], type(config[control.name]))
            != (control.default, type(control.default))
        }

    @property
    def digest(self) -> str:
        """SHA-256 over names, domains, defaults and conditions: what a study depends on."""
        rows = [
            [control.name, repr(control.domain), repr(control.default), control.option]
            for control in self.controls
        ]
        rules = [[rule.control, rule.parent, repr(rule.values)] for rule in self.conditions]
        return hashlib.sha256(json.dumps([rows, rules]).encode()).hexdigest()

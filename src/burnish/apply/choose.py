"""Which tuned blocks a build may take, and why not the others."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from burnish.acf.shelf import Found
from burnish.apply.fit import Complaint, PlainBuild, choose_one
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import Module

__all__ = ["Pick", "Plan", "Unit", "choose"]

# Options that keep functions which no entry reaches: nobody has checked those.
_KEEPS_ALL = frozenset({"--compile-only", "--extensible-whole-program"})
_EXPORTED = frozenset({"visible", "weak", "common"})


@dataclass(frozen=True, slots=True)
class Unit:
    """One PTX file of the build, and the entries of it that are compiled."""

    name: str
    module: Module
    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """A block that applies to an entry of a unit."""

    unit: Unit
    entry: str
    found: Found

    @property
    def way(self) -> tuple[str, tuple[str, ...], bytes]:
        """What holds for a whole call of the compiler: itself, its options, NVIDIA's file."""
        code = self.found.tuned.code
        return code.compiler, code.options, code.opaque


@dataclass(frozen=True, slots=True)
class Plan:
    """What to build.

    Attributes:
        picks: Blocks to apply, at most one an entry; all take the same way.
        complaints: What matched and does not apply.
    """

    picks: tuple[Pick, ...]
    complaints: tuple[Complaint, ...]


def choose(
    units: Sequence[Unit],
    plain: PlainBuild,
    about: Callable[[str, str], Iterable[Found]],
) -> Plan:
    """Pick a block for every entry that has one.

    A call of a compiler has one version and one set of options. So blocks that change these
    apply only where every entry has a block with the same two; else the entries keep the
    plain way, and only blocks of that way apply.

    Args:
        units: The PTX files of the build.
        plain: The build as it would be.
        about: All blocks with a key or an entry's name, the preferred first.
    """
    picks: list[Pick] = []
    complaints: list[Complaint] = []
    for unit in units:
        for entry in unit.entries:
            key = entry_digest(unit.module, entry)
            chosen = choose_one(about(key, entry), (key, entry), plain)
            if isinstance(chosen, Found):
                picks.append(Pick(unit, entry, chosen))
            elif chosen is not None:
                complaints.append(chosen)
    return _one_way(units, plain, Plan(tuple(picks), tuple(complaints)))


def _one_way(units: Sequence[Unit], plain: PlainBuild, plan: Plan) -> Plan:
    plain_way = (plain.compiler, plain.options, b"")
    others = [pick for pick in plan.picks if pick.way != plain_way]
    if not others:
        return plan
    entries = sum(len(unit.entries) for unit in units)
    is_shared = len(plan.picks) == entries and len({pick.way for pick in plan.picks}) == 1
    if not is_shared:
        reason = "changes compiler or options for the whole file, and not every entry does so alike"
    elif _KEEPS_ALL & set(plain.options) and any(_exports(unit.module) for unit in units):
        reason = "changes compiler or options, also of functions that were not tuned"
    else:
        return plan
    refused = tuple(Complaint(str(pick.found.path), pick.entry, reason) for pick in others)
    kept = tuple(pick for pick in plan.picks if pick.way == plain_way)
    return Plan(kept, (*plan.complaints, *refused))


def _exports(module: Module) -> bool:
    """Whether other files may call a function of this one."""
    return any(
        function.is_defined and not function.is_entry and function.linkage in _EXPORTED
        for function in module.functions
    )

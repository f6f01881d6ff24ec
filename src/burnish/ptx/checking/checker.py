"""The checker: is a rewritten entry the plain one in all that counts?

It knows only texts and shares no code with the rewrites. Everything about the plain text is found
once; of a rewritten text only what differs costs time. Any difference that is no known rewrite is
refused.
"""

from collections.abc import Collection

from burnish.errors import RewriteError
from burnish.ptx.checking import limits, policy, pragmas
from burnish.ptx.checking.effects import BARRIER, IN_FLIGHT, Effects, effects_of
from burnish.ptx.checking.layout import Piece, graph
from burnish.ptx.checking.noncoherent import Origins, parameters
from burnish.ptx.checking.order import Plan
from burnish.ptx.checking.reader import Kind, Reader, Unit

__all__ = ["Checker"]


class Checker:
    """Checks rewritten texts of one entry against its plain text.

    Args:
        plain_entry_text: The entry, from its first directive to its closing brace.
        ptx_version: `.version` of the module; nothing: new enough for every hint.
        may_noncoherent: Positions of the parameters whose buffers the launch does not write and
            which no written buffer overlaps; None: whichever, the caller sees to it. A parameter
            through which the entry itself writes never qualifies.

    Raises:
        RewriteError: The plain text cannot be read.
    """

    def __init__(
        self,
        plain_entry_text: str,
        *,
        ptx_version: str = "",
        may_noncoherent: Collection[int] | None = None,
    ) -> None:
        self._reader = Reader()
        self._plain = self._reader.read(plain_entry_text)
        units = self._plain.units
        names = parameters(self._plain.header)
        self._effects = _all_effects(units, names)
        self._graph = graph(units)
        self._pragmas = pragmas.others(units)
        self._has_setmaxnreg = "setmaxnreg" in plain_entry_text
        self._version = tuple(int(part) for part in ptx_version.split(".") if part.isdigit())
        self._allowed = may_noncoherent
        self._plans: dict[int, Plan] = {}
        self._accepted: set[tuple[Unit, Unit]] = set()
        self._origins: Origins | None = None

    def check(self, rewritten_entry_text: str) -> None:
        """Check a rewritten text.

        Raises:
            RewriteError: It is not the plain entry under a legal rewrite; the message names the
                rule, the statement and both places.
        """
        reading = self._reader.read(rewritten_entry_text)
        limits.check(self._plain.header, reading.header, has_setmaxnreg=self._has_setmaxnreg)
        pragmas.check(self._pragmas, reading.units)
        changed = graph(reading.units)
        if changed.dead != self._graph.dead:
            raise RewriteError("layout: what no branch reaches is not what it was")
        twins = {self._graph.first: changed.first}
        waiting = [(self._graph.first, changed.first)]
        while waiting:
            plain, other = waiting.pop()
            self._compare(plain, changed.pieces[other])
            after = self._graph.pieces[plain].successors
            for one, two in zip(after, changed.pieces[other].successors, strict=True):
                if one in twins:
                    _same(twins[one], two)
                elif (one < 0) != (two < 0) or two in twins.values():
                    raise RewriteError("layout: a branch goes elsewhere")
                elif one >= 0:
                    twins[one] = two
                    waiting.append((one, two))

    def _compare(self, at: int, other: Piece) -> None:
        plain = self._graph.pieces[at]
        if plain.jump != other.jump or len(plain.successors) != len(other.successors):
            raise RewriteError(f"layout: {plain.jump!r} became {other.jump!r}")
        if plain.units == other.units:
            return
        for before, after in self._plan(at).match(other.units):
            if (before, after) not in self._accepted:
                self._accept(before, after)
                self._accepted.add((before, after))

    def _plan(self, at: int) -> Plan:
        if at not in self._plans:
            units = self._graph.pieces[at].units
            self._plans[at] = Plan(units, [self._effects[unit] for unit in units])
        return self._plans[at]

    def _accept(self, before: Unit, after: Unit) -> None:
        policy.check(before, after, self._version)
        if ("nc" in before.modifiers) != ("nc" in after.modifiers):
            if self._origins is None:
                self._origins = Origins(self._plain.units, self._effects, self._plain.header)
            self._origins.check(before, after, self._allowed)


def _same(one: int, two: int) -> None:
    if one != two:
        raise RewriteError("layout: a branch goes elsewhere")


def _all_effects(units: Collection[Unit], names: Collection[str]) -> dict[Unit, Effects]:
    """The effects of each unit; fences and waits guard all registers that are in flight."""
    found = {
        unit: effects_of(unit, names)
        if unit.kind in {Kind.INSTRUCTION, Kind.GROUP, Kind.DECLARATION}
        else BARRIER
        for unit in units
    }
    flying = frozenset().union(*(effect.flying for effect in found.values()))
    for unit, effect in found.items():
        if IN_FLIGHT in effect.writes:
            found[unit] = Effects(
                effect.reads | flying,
                effect.writes | flying,
                ordered=True,
                convergent=True,
                accesses=effect.accesses,
            )
    return found

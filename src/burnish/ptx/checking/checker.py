"""The checker: is a rewritten entry the plain one in all that counts?

It knows only texts and shares no code with the rewrites. Everything about the plain text is found
once; of a rewritten text only what differs costs time. Any difference that is no known rewrite is
refused.
"""

from collections import Counter
from collections.abc import Collection

from burnish.errors import RewriteError
from burnish.ptx.checking import limits, policy
from burnish.ptx.checking.effects import BARRIER, IN_FLIGHT, Effects, effects_of, names
from burnish.ptx.checking.layout import Piece, graph, loop_heads, twins
from burnish.ptx.checking.noncoherent import Origins, parameters_of
from burnish.ptx.checking.opcodes import PLAIN
from burnish.ptx.checking.order import Plan
from burnish.ptx.checking.pragmas import Pragmas
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
        self._effects = _all_effects(units, _parameter_addresses(units, self._plain.header))
        self._graph = graph(self._plain)
        self._pragmas = Pragmas(self._plain, loop_heads(self._plain))
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
        self._pragmas.check(reading)
        changed = graph(reading)
        if changed.dead != self._graph.dead:
            raise RewriteError("layout: what no branch reaches is not what it was")
        for plain, other in twins(self._graph, changed):
            self._compare(plain, other)

    def _compare(self, at: int, other: Piece) -> None:
        if self._graph.pieces[at].units == other.units:
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


def _parameter_addresses(units: Collection[Unit], header: str) -> set[str]:
    """The entry's parameters, and the registers that hold nothing but the address of one."""
    parameters = set(parameters_of(header))
    moved = Counter(
        unit.operands[0]
        for unit in units
        if unit.opcode == "mov" and unit.operands[1:2] and unit.operands[1] in parameters
    )
    named = Counter(name for unit in units for name in names(_perhaps_written(unit)))
    return parameters.union(name for name, count in moved.items() if named[name] == count)


def _perhaps_written(unit: Unit) -> str:
    known = unit.opcode in PLAIN or unit.opcode in {"ld", "st"}
    return " ".join(unit.operands[:1]) if known else unit.text


def _all_effects(units: Collection[Unit], addresses: Collection[str]) -> dict[Unit, Effects]:
    """The effects of each unit; fences and waits guard all registers that are in flight."""
    found = {
        unit: effects_of(unit, addresses)
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

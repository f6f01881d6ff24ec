"""Checks a changed cache policy of one load, store or asynchronous copy of global memory.

Source: PTX ISA, "Cache Operators", "Cache Eviction Priority Hints", and the syntax of `ld`, `st`
and `cp.async`. What the ISA does not allow there is refused, and what it would make another
operation (`lu`, `cv`) too.
"""

from burnish.errors import RewriteError
from burnish.ptx.checking.reader import Unit

__all__ = ["check"]

_PREFETCHES = frozenset({"L2::64B", "L2::128B", "L2::256B"})
_EVICTIONS = frozenset(
    f"L1::{way}"
    for way in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
)
_OPERATORS = {"ld": frozenset({"ca", "cg", "cs"}), "st": frozenset({"wb", "cg", "cs", "wt"})}
_ALLOWED = {
    "ld": _OPERATORS["ld"] | _EVICTIONS | _PREFETCHES,
    "st": _OPERATORS["st"] | _EVICTIONS,
    "cp": frozenset({"ca", "cg"}) | _PREFETCHES,
}
_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "mmio", "bulk"})
_FIRST_WITH_HINTS = (7, 4)
_RANKS = {"weak": 0, "async": 0, "global": 1, "nc": 3, "L2::cache_hint": 5}


def check(plain: Unit, rewritten: Unit, version: tuple[int, ...]) -> None:
    """Check that only an allowed policy differs (`nc` is not looked at here).

    Raises:
        RewriteError: The change is none that the ISA allows for this access.
    """
    before = [part for part in plain.modifiers if part != "nc"]
    after = [part for part in rewritten.modifiers if part != "nc"]
    if before == after:
        return
    marks = set(before)
    if "global" not in marks or marks & _STRONG:
        raise _refused(plain, rewritten, "only weak accesses of global memory have one to choose")
    allowed = _ALLOWED[plain.opcode]
    if not set(before) ^ set(after) <= allowed:
        raise _refused(plain, rewritten, "the ISA has no such policy here")
    _check_form(plain, rewritten, after)
    hints = {part for part in set(after) - marks if "::" in part}
    if hints and version and version < _FIRST_WITH_HINTS:
        raise _refused(plain, rewritten, "hints need PTX 7.4")


def _check_form(plain: Unit, rewritten: Unit, after: list[str]) -> None:
    operators = [part for part in after if part in {"ca", "cg", "cs", "lu", "cv", "wb", "wt"}]
    evictions = [part for part in after if part.startswith(("L1::", "L2::evict"))]
    prefetches = [part for part in after if part in _PREFETCHES]
    if max(len(operators), len(evictions), len(prefetches)) > 1 or (operators and evictions):
        raise _refused(plain, rewritten, "an access has one policy of each kind")
    if plain.opcode == "cp":
        _check_copy(plain, rewritten, operators)
        return
    ranks = [_rank(part) for part in rewritten.modifiers]
    if ranks != sorted(ranks):
        raise _refused(plain, rewritten, "the parts stand in another order than the ISA's")


def _check_copy(plain: Unit, rewritten: Unit, operators: list[str]) -> None:
    size = plain.operands[2] if len(plain.operands) > 2 else ""  # noqa: PLR2004 - to, from, size
    if len(operators) != 1 or (operators == ["cg"] and size not in {"16", "0x10"}):
        raise _refused(plain, rewritten, "a copy is .ca, or .cg of 16 bytes")
    if rewritten.modifiers[:2] != ("async", operators[0]):
        raise _refused(plain, rewritten, "the parts stand in another order than the ISA's")
    ranks = [_rank(part) for part in rewritten.modifiers[3:]]
    if ranks != sorted(ranks):
        raise _refused(plain, rewritten, "the parts stand in another order than the ISA's")


def _rank(part: str) -> int:
    if part in _PREFETCHES:
        return 6
    if part.startswith(("L1::", "L2::evict")):
        return 4
    if part in {"ca", "cg", "cs", "lu", "cv", "wb", "wt"}:
        return 2
    return _RANKS.get(part, 7)


def _refused(plain: Unit, rewritten: Unit, reason: str) -> RewriteError:
    return RewriteError(f"policy: {reason}: {plain.text!r} became {rewritten.text!r}")

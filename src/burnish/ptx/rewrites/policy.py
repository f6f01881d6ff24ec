"""How single loads, stores and copies of global memory use the caches.

Values that were seen to give identical code on many kernels are one value here: ``.cs`` is
``.L1::evict_first`` and ``.L1::evict_normal`` is what no hint means, for loads and stores; ``.ca``
and ``.cg`` change nothing for a load through the non-coherent cache
(docs/decisions/0003-equivalent-values.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.model.control import Choice, Control, Layer, Risk, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.kept import once
from burnish.ptx.rewrites.inherited import INHERITED, inherited
from burnish.ptx.rewrites.language import Language, language
from burnish.ptx.rewrites.sites import COPY, LOAD, NONCOHERENT, STORE, Site, sites

__all__ = ["apply", "controls"]

_PLAIN = "plain"
_PLURALS = {LOAD: "loads", STORE: "stores", COPY: "copies"}
_INSTRUCTIONS = {LOAD: "ld", STORE: "st", COPY: "cp.async"}
_MEANINGS = {
    "cache": "How {} is cached: a cache operator, or when the L1 cache may let its line go.",
    "prefetch": "How much around {} the L2 cache fetches with it.",
}

_EVICTIONS = ("L1::no_allocate", "L1::evict_first", "L1::evict_last", "L1::evict_unchanged")
_NORMAL = "L1::evict_normal"
_OPERATORS = {LOAD: ("cg", "ca"), STORE: ("cg", "wb", "wt")}
_SINCE = (7, 4)
_WIDTHS = {"L2::64B": 75, "L2::128B": 75, "L2::256B": 80}
_HINTED = frozenset({"ca", "cg", "cs", "wb"})
_SAME = {"cs": "L1::evict_first"}
_BYTES_OF_CG = 16


@dataclass(frozen=True, slots=True)
class _Choice:
    """What one site has a choice of.

    Attributes:
        site: The access.
        aspect: ``cache`` or ``prefetch``.
        name: Of its control.
        kernel: Of the control that all of its kind have.
        values: Hints that may be added.
    """

    site: Site
    aspect: str
    name: str
    kernel: str
    values: tuple[str, ...]


def controls(body: Body) -> tuple[Control, ...]:
    """For each aspect a control of the whole kernel, then those of its sites."""
    groups: dict[str, list[_Choice]] = {}
    for one in _choices(body):
        groups.setdefault(one.kernel, []).append(one)
    found = []
    for name, group in groups.items():
        every = tuple(dict.fromkeys(value for one in group for value in one.values))
        found.append(_control(name, (_PLAIN, *every), group[0], f"every {group[0].site.kind}"))
        found += [
            _control(one.name, (INHERITED, _PLAIN, *one.values), one, f"this {one.site.kind}")
            for one in group
        ]
    return tuple(found)


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Give the sites of a draft the hints that a config says."""
    chosen: dict[int, tuple[Site, list[str]]] = {}
    for one in _choices(draft.body):
        value = inherited(config, one.name, one.kernel, _PLAIN)
        if value in one.values:
            chosen.setdefault(one.site.number, (one.site, []))[1].append(str(value))
    for number, (site, hints) in chosen.items():
        draft.texts[number] = site.text(tuple(hints))


def _control(name: str, values: tuple[str, ...], one: _Choice, what: str) -> Control:
    return Control(
        name=name,
        layer=Layer.PTX,
        domain=Choice(values),
        default=values[0],
        risk=Risk.EXACT,
        meaning=_MEANINGS[one.aspect].format(f"{what} of global memory"),
        source=f"PTX ISA, {_INSTRUCTIONS[one.site.kind]}",
    )


@once
def _choices(body: Body) -> tuple[_Choice, ...]:
    """All choices, those of one kind together."""
    known, found = language(body), []
    for kind, plural in _PLURALS.items():
        own = [site for site in sites(body) if site.kind == kind]
        for number, site in enumerate(own):
            values_of = {"cache": _caches(site, known), "prefetch": _widths(site, known)}
            found += [
                _Choice(
                    site, aspect, f"ptx.{kind}[{number}].{aspect}", f"ptx.{plural}.{aspect}", values
                )
                for aspect, values in values_of.items()
                if values
            ]
    return tuple(found)


def _caches(site: Site, known: Language) -> tuple[str, ...]:
    """Cache operators and evictions that differ from what is written."""
    if site.kind == COPY:
        other = {"ca": "cg", "cg": "ca"}.get(site.modifiers[1], "")
        fits = other == "ca" or site.operands[2:3] in {("16",), ("0x10",)}
        return (other,) if other and fits else ()
    written = [one for one in site.modifiers if one in _HINTED or one.startswith("L1::")]
    values: tuple[str, ...] = ()
    if known.has(_SINCE, 70):
        values += _EVICTIONS + ((_NORMAL,) if written else ())
    has_operators = not any(one.startswith("L2::evict") for one in site.modifiers)
    if has_operators and NONCOHERENT not in site.modifiers:
        values += _OPERATORS[site.kind]
    same = {_SAME.get(one, one) for one in written}
    return tuple(value for value in values if value not in same)


def _widths(site: Site, known: Language) -> tuple[str, ...]:
    """Prefetches that differ from what is written."""
    if site.kind == STORE:
        return ()
    values = [width for width, arch in _WIDTHS.items() if known.has(_SINCE, arch)]
    return tuple(value for value in values if value not in site.modifiers)

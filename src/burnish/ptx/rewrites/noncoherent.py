"""Loads through the cache that does not see stores: right where nothing stores there.

Offered where the address derives from one parameter that the entry does not store through, in
entries that no other grid can overlap with and that call nothing. What the launch must then keep is
what `requires` says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.model.control import Choice, Control, Layer, Risk, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.flow import origin, written
from burnish.ptx.kept import once
from burnish.ptx.rewrites.inherited import INHERITED, inherited
from burnish.ptx.rewrites.sites import LOAD, NONCOHERENT, Site, sites
from burnish.ptx.statements import flat

__all__ = ["apply", "controls", "requires"]

_KERNEL = "ptx.loads.noncoherent"
_FORBIDDEN = frozenset({"call", "griddepcontrol"})
_SOURCE = "PTX ISA, ld.global.nc"


@dataclass(frozen=True, slots=True)
class _Choice:
    """A load that has the choice.

    Attributes:
        site: The load.
        name: Of its control.
        parameter: The number of the parameter that its address derives from.
    """

    site: Site
    name: str
    parameter: int


def controls(body: Body) -> tuple[Control, ...]:
    """One for all loads, and one for each that has the choice."""
    found = _choices(body)
    if not found:
        return ()
    kernel = _control(_KERNEL, Choice((False, True)), "every load", "a buffer")
    each = [
        _control(
            one.name,
            Choice((INHERITED, False, True)),
            "this load",
            f"the buffer of parameter {one.parameter}",
        )
        for one in found
    ]
    return (kernel, *each)


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Make loads of a draft non-coherent as a config says."""
    for one in _chosen(draft.body, config):
        known = draft.texts.get(one.site.number)
        draft.texts[one.site.number] = one.site.text((NONCOHERENT,), known)


def requires(body: Body, config: Mapping[str, Value]) -> tuple[int, ...]:
    """What a launch must keep for a config to be right.

    Returns:
        Numbers of parameters: the launch may not write their buffers, and they may share no byte
        with a buffer that it writes.
    """
    return tuple(sorted({one.parameter for one in _chosen(body, config)}))


def _control(name: str, domain: Choice, what: str, whose: str) -> Control:
    return Control(
        name=name,
        layer=Layer.PTX,
        domain=domain,
        default=domain.values[0],
        risk=Risk.CONDITIONAL,
        meaning=f"Whether {what} may come from {whose} as it was before the launch.",
        source=_SOURCE,
    )


def _chosen(body: Body, config: Mapping[str, Value]) -> Iterator[_Choice]:
    for one in _choices(body):
        if inherited(config, one.name, _KERNEL, default=False) is True:
            yield one


@once
def _choices(body: Body) -> tuple[_Choice, ...]:
    opcodes = {one.opcode for statement in body.statements for one in flat(statement)}
    if not opcodes.isdisjoint(_FORBIDDEN):
        return ()
    parameters = origin(body)
    stored = written(body)
    found = []
    for number, site in enumerate(one for one in sites(body) if one.kind == LOAD):
        parameter = parameters.get(site.number)
        is_plain = NONCOHERENT not in site.modifiers
        if is_plain and parameter is not None and parameter not in stored:
            found.append(_Choice(site, f"ptx.load[{number}].noncoherent", parameter))
    return tuple(found)

"""The order of statements inside basic blocks: a control for the kernel and one for each block.

ptxas keeps much of the order that it is given, so that each order is other machine code.
"""

from collections.abc import Mapping

from burnish.model.control import Control, Layer, Risk, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.rewrites.chance import noise
from burnish.ptx.rewrites.graph import Graph, graphs
from burnish.ptx.rewrites.inherited import INHERITED, inherited
from burnish.ptx.rewrites.pickers import ByLatency, ByLives, ByRank, Picker, run
from burnish.ptx.rewrites.schedules import SOURCE, WINDOWS, Schedule, Schedules, schedule

__all__ = ["apply", "controls"]

_KERNEL = "ptx.schedule"
_FROM_THE_END = frozenset({"late", "pressure"})
_MODES = (
    "early and late: loads as far as possible before, or right before, what needs them; "
    "critical: the longest path first; pressure: few registers alive; interleave: memory and "
    "arithmetic mixed evenly; then how many statements ahead to look (0: any), and a seed"
)
_SOURCE = "PTX ISA, instruction statements: only dependences order the statements of a block"


def controls(body: Body) -> tuple[Control, ...]:
    """The schedule of the whole kernel, and that of each block that has more than one order."""
    found = graphs(body)
    if not found:
        return ()
    kernel = _control(_KERNEL, Schedules(inherits=False), SOURCE, "all blocks")
    blocks = [
        _control(
            _name(index),
            Schedules(inherits=True, windows=_windows(graph)),
            INHERITED,
            "this block",
        )
        for index, graph in found.items()
    ]
    return (kernel, *blocks)


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Order the blocks of a draft as a config says."""
    for index, graph in graphs(draft.body).items():
        wanted = schedule(inherited(config, _name(index), _KERNEL, SOURCE))
        if wanted is not None:
            order = _ordered(graph, wanted, index)
            draft.orders[index] = [graph.first + number for number in order]


def _control(name: str, domain: Schedules, default: str, what: str) -> Control:
    return Control(
        name=name,
        layer=Layer.PTX,
        domain=domain,
        default=default,
        risk=Risk.EXACT,
        meaning=f"How the instructions of {what} are ordered. {_MODES}.",
        source=_SOURCE,
    )


def _name(index: int) -> str:
    """The name of the control of a block."""
    return f"ptx.block[{index}].schedule"


def _windows(graph: Graph) -> tuple[int, ...]:
    """The windows that are not as good as none."""
    return tuple(window for window in WINDOWS if window < graph.size - 1)


def _ordered(graph: Graph, wanted: Schedule, salt: int) -> list[int]:
    """The statements of a block, numbered from its first, in the order of a schedule."""
    if wanted.mode not in _FROM_THE_END:
        return run(graph, _picker(graph, wanted, salt), wanted.window)
    last, reverse = graph.size - 1, graph.reverse
    order = run(reverse, _picker(reverse, wanted, salt), wanted.window)
    return [last - number for number in reversed(order)]


def _picker(graph: Graph, wanted: Schedule, salt: int) -> Picker:
    chance = noise(wanted.seed, salt, graph.size, graph.free)
    match wanted.mode:
        case "early" | "late":
            return ByRank(graph.by_loads, chance)
        case "critical":
            return ByLatency(graph, chance)
        case "pressure":
            return ByLives(graph.lives, chance)
        case "interleave":
            return ByRank(graph.by_mixture, chance)
        case _:
            return ByRank(graph.by_place, chance)

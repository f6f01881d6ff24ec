"""How many registers and blocks an entry asks for: `.maxnreg` and `.minnctapersm`."""

import re
from collections.abc import Mapping
from math import prod

from burnish.model.control import Choice, Control, Layer, Risk, Value
from burnish.ptx.body import Body
from burnish.ptx.draft import Draft
from burnish.ptx.statements import flat
from burnish.ptx.text import bare

__all__ = ["apply", "controls"]

_NONE = "none"
_REGISTERS, _BLOCKS = "maxnreg", "minnctapersm"
# Those that a search should try first, then the other multiples of 8. Few registers serialise
# wgmma, or it is refused (C7511, C7602).
_USUAL_REGISTERS = (255, 168, 128, 96, 80, 64, 48, 40, 32)
_USUAL_OF_WGMMA = (255, 240, 224, 208, 192, 168)
_ALL_REGISTERS = range(32, 256, 8)
_BLOCK_COUNTS = (1, 2, 3, 4, 6, 8)
_THREADS_OF_A_MULTIPROCESSOR = 2048
_SAID = re.compile(r"\.minnctapersm\s+(\d+)")
_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+([\d\s,]+)")


def controls(body: Body) -> tuple[Control, ...]:
    """Those that an entry may have.

    None where it moves registers between its warps, as it is then written for one number of them;
    a number of blocks needs a block size.
    """
    opcodes = {one.opcode for statement in body.statements for one in flat(statement)}
    if not body.is_entry or "setmaxnreg" in opcodes:
        return ()
    usual = _USUAL_OF_WGMMA if "wgmma" in opcodes else _USUAL_REGISTERS
    exotic = [count for count in _ALL_REGISTERS if count not in usual]
    found = [
        _control(
            _REGISTERS,
            Choice((_NONE, *usual, *exotic), usual_count=1 + len(usual)),
            "Most registers a thread may use, instead of what is said.",
        )
    ]
    fits = _most_blocks(bare(body.header))
    if fits:
        found.append(
            _control(
                _BLOCKS,
                Choice((_NONE, *fits), is_ordered=True),
                "How many blocks a multiprocessor should hold at once, instead of what is said.",
            )
        )
    return tuple(found)


def apply(draft: Draft, config: Mapping[str, Value]) -> None:
    """Say the limits of a config."""
    for name in (_REGISTERS, _BLOCKS):
        value = config.get(f"ptx.{name}", _NONE)
        if value != _NONE:
            draft.directives[name] = str(value)


def _control(name: str, domain: Choice, meaning: str) -> Control:
    return Control(
        name=f"ptx.{name}",
        layer=Layer.PTX,
        domain=domain,
        default=_NONE,
        risk=Risk.EXACT,
        meaning=meaning,
        source=f"PTX ISA, performance-tuning directives: .{name}",
    )


def _most_blocks(header: str) -> tuple[int, ...]:
    """Numbers of blocks that fit a multiprocessor and are not said; none without a block size."""
    size, said = _THREADS.search(header), _SAID.search(header)
    if size is None:
        return ()
    threads = prod(map(int, size[1].replace(",", " ").split()))
    most = _THREADS_OF_A_MULTIPROCESSOR // threads
    return tuple(n for n in _BLOCK_COUNTS if n <= most and (said is None or n != int(said[1])))

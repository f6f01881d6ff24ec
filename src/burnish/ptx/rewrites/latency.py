"""How long results take, by class of instruction: what orders by the longest path go by.

Cycles of a dependent issue, rounded to what is alike from sm_80 on: only proportions matter. Such
figures are measured in Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking" (arXiv:1804.06826), Abdelkhalik et al., "Demystifying the Nvidia Ampere
Architecture through Microbenchmarking and Instruction-level Analysis" (arXiv:2208.11174) and Luo et
al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture" (arXiv:2402.13499). Those of
classes that they leave out are guesses.
"""

from collections.abc import Mapping

from burnish.ptx.instruction import Instruction, Statement
from burnish.ptx.statements import flat

__all__ = ["latency"]

_BY_SPACE: Mapping[str, int] = {
    "global": 500,
    "generic": 500,
    "local": 100,
    "shared": 30,
    "const": 8,
    "param": 8,
}
_ARITHMETIC = 4
_DOUBLE = 8
_SPECIAL = 20
_BY_OPCODE: Mapping[str, int] = {
    "atom": 500,
    "suld": 500,
    "tex": 500,
    "tld4": 500,
    "mma": 20,
    "wmma": 20,
    "wgmma": 20,
    "bar": 20,
    "barrier": 20,
    "shfl": 25,
    "redux": 25,
    "movmatrix": 25,
    "vote": 12,
    "match": 25,
    "cos": _SPECIAL,
    "div": 40,
    "ex2": _SPECIAL,
    "lg2": _SPECIAL,
    "rcp": _SPECIAL,
    "rem": 40,
    "rsqrt": _SPECIAL,
    "sin": _SPECIAL,
    "sqrt": _SPECIAL,
    "tanh": _SPECIAL,
    "popc": 12,
    "bfind": 12,
    "clz": 12,
}
_STORE = 2


def latency(statement: Statement) -> int:
    """Cycles from the issue of an instruction to that of one that needs its result.

    Those in a group wait for each other.
    """
    return sum(_latency(one) for one in flat(statement))


def _latency(one: Instruction) -> int:
    if one.access is not None and one.access.kind == "load":
        return _BY_SPACE[one.access.space]
    if one.access is not None and one.access.kind in {"store", "copy"}:
        return _STORE
    known = _BY_OPCODE.get(one.opcode, _ARITHMETIC)
    return max(known, _DOUBLE) if "f64" in one.modifiers else known

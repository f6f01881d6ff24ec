"""Options of gcc for single kinds of processors: those that change code and no interface.

Everything else that ``gcc --help=target`` lists is left out: what changes how arguments are passed
or data is laid out, which libraries or system the code is for, and what takes instructions away.
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["MACHINES", "Machine"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What is known about one architecture.

    Attributes:
        source: Where its options are documented.
        isa: The option that says for which processor code is made.
        levels: Values of it that every processor with certain extensions runs.
        tuned_for: Values of ``mtune``, usual ones first.
        switches: Options to say or to negate.
        values: Options with a value, and their values.
        extensions: Options that allow more instructions, where this processor has them.
        fused: Options that bring fused multiply-add, where it is not always there.
        wide: Options that decide something only where there are vectors wider than the plain
            ones, and the option that brings these.
    """

    source: str
    isa: str
    levels: tuple[str, ...]
    tuned_for: tuple[str, ...]
    switches: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    extensions: tuple[str, ...]
    fused: tuple[str, ...]
    wide: tuple[tuple[str, ...], str] = ((), "")


_X86 = Machine(
    source="https://gcc.gnu.org/onlinedocs/gcc/x86-Options.html",
    isa="march",
    levels=("x86-64-v3", "x86-64-v4", "x86-64-v2"),
    tuned_for=(
        *("native", "haswell", "skylake-avx512", "znver3", "znver4", "icelake-server", "intel"),
        *("skylake", "znver2", "znver1", "generic", "core2", "sandybridge", "alderlake"),
        *("sapphirerapids", "znver5", "bdver4", "silvermont", "goldmont", "tremont"),
    ),
    switches=(
        *("mavx256-split-unaligned-load", "mavx256-split-unaligned-store", "mvzeroupper"),
        *("minline-all-stringops", "minline-stringops-dynamically", "malign-stringops", "mstv"),
        *("m8bit-idiv", "maccumulate-outgoing-args", "mpush-args", "mred-zone", "msahf"),
        *("momit-leaf-frame-pointer", "mdispatch-scheduler", "mrelax-cmpxchg-loop", "mrecip"),
    ),
    values={
        "mprefer-vector-width": ("256", "512", "128"),
        "mmove-max": ("256", "512", "128"),
        "mstore-max": ("256", "512", "128"),
        "mbranch-cost": ("0", "1", "2", "4", "5"),
        "mstringop-strategy": (
            *("libcall", "unrolled_loop", "vector_loop", "rep_byte", "loop", "rep_8byte"),
            *("rep_4byte", "byte_loop"),
        ),
        "mfpmath": ("387", "both"),
    },
    extensions=(
        *("mavx", "mavx2", "mfma", "mbmi", "mbmi2", "mpopcnt", "mlzcnt", "mmovbe", "mf16c"),
        *("msse3", "mssse3", "msse4.1", "msse4.2", "msse4a", "mavx512f", "mavx512vl", "mavx512dq"),
        *("mavx512bw", "mavx512cd", "mavxvnni", "mxop", "mfma4", "mtbm"),
    ),
    fused=("mfma", "mfma4", "mavx512f"),
    wide=(("mprefer-vector-width", "mmove-max", "mstore-max"), "mavx"),
)

_ARM = Machine(
    source="https://gcc.gnu.org/onlinedocs/gcc/AArch64-Options.html",
    isa="mcpu",
    levels=(),
    tuned_for=("native", "neoverse-v1", "neoverse-n1", "neoverse-v2", "cortex-a72", "generic"),
    switches=(
        *("momit-leaf-frame-pointer", "mlow-precision-recip-sqrt", "mlow-precision-sqrt"),
        "mlow-precision-div",
    ),
    values={},
    extensions=(),
    fused=(),
)

MACHINES: Mapping[str, Machine] = {"x86_64": _X86, "aarch64": _ARM}

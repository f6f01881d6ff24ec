"""The controls of ptxas: documented options of the assembler, as data.

Values that were seen to give identical code on fifteen kernels are one value here
(docs/decisions/0003-equivalent-values.md), so that no search compiles the same thing twice.
Which of the controls a given ptxas knows is read from its own ``--help``.
"""

from burnish.model.control import Choice, Control, Layer, Risk, Value

__all__ = ["FLOAT_ATOMICS", "NONE", "PTXAS", "REGISTER_LIMITS", "VERSION", "version_control"]

# The value that leaves an option out of the command line.
NONE = "none"

VERSION = "ptxas.version"
_HELP = "ptxas --help"
_GUIDE = "CUDA C++ compiler driver guide, ptxas options"


def _control(
    name: str, domain: Choice, meaning: str, *, risk: Risk = Risk.EXACT, default: Value = NONE
) -> Control:
    return Control(
        name=f"ptxas.{name}",
        layer=Layer.PTXAS,
        domain=domain,
        default=default,
        risk=risk,
        meaning=meaning,
        source=f"{_HELP}; {_GUIDE}",
        option=f"--{name}={{}}",
    )


# -O2 equals -O3. Lower levels may contract multiplies and adds elsewhere: other rounding.
_OPT_LEVEL = Control(
    name="ptxas.opt-level",
    layer=Layer.PTXAS,
    domain=Choice((3, 1, 0), usual_count=1, is_ordered=True),
    default=3,
    risk=Risk.EXACT,
    meaning="How hard ptxas optimises; 0 and 1 may round differently.",
    source=f"{_HELP}; {_GUIDE}",
    option="--opt-level={}",
    riskier=((1, Risk.ROUNDING), (0, Risk.ROUNDING)),
)

# A limit above what the kernel uses is no no-op: it can lift a default occupancy target.
_MAX_REGISTERS = _control(
    "maxrregcount",
    Choice(
        (NONE, 255, 168, 128, 96, 80, 64, 48, 40, 32, 224, 192, 160, 112, 72, 56, 24),
        usual_count=10,
    ),
    "Most registers a thread may use: fewer let more blocks run at once, more avoid spills.",
)

# The levels fall into the classes 0-3, 4-5 and 6-10; 5 is the default.
_REGISTER_USAGE = Control(
    name="ptxas.register-usage-level",
    layer=Layer.PTXAS,
    domain=Choice((5, 0, 10), is_ordered=False),
    default=5,
    risk=Risk.EXACT,
    meaning="How freely optimisations may raise the number of registers (10: most freely).",
    source=f"{_HELP}; {_GUIDE}",
    option="--register-usage-level={}",
)

_BLOCKS_PER_SM = _control(
    "minnctapersm",
    Choice((NONE, 1, 2, 3, 4, 6, 8), usual_count=5, is_ordered=True),
    "How many blocks a multiprocessor should hold at once; ptxas fits the registers to it.",
)

_DEFAULT_LOADS = _control(
    "def-load-cache",
    Choice((NONE, "cg", "cs", "ca", "lu", "cv"), usual_count=3),
    "Cache operator of global loads that name none (cg: L2 only; cs: streaming).",
)

# ca is left out: forced onto loads that bypass L1 on purpose, it breaks programs in which
# blocks speak to each other through memory.
_FORCED_LOADS = _control(
    "force-load-cache",
    Choice((NONE, "cg", "cs", "cv"), usual_count=3),
    "Cache operator of all global loads, also of those that name another.",
)

_DEFAULT_STORES = _control(
    "def-store-cache",
    Choice((NONE, "wb", "cg", "cs", "wt"), usual_count=4),
    "Cache operator of global stores that name none (cs: streaming; wt: write through).",
)

_FORCED_STORES = _control(
    "force-store-cache",
    Choice((NONE, "wb", "cg", "cs", "wt"), usual_count=1),
    "Cache operator of all global stores, also of those that name another.",
)

# min and mid give the same code; max is close to -O0.
_FAST_COMPILE = Control(
    name="ptxas.Ofast-compile",
    layer=Layer.PTXAS,
    domain=Choice(("0", "min", "max"), usual_count=1, is_ordered=True),
    default="0",
    risk=Risk.ROUNDING,
    meaning="Leaves optimisations out to compile faster; sometimes that is the better code.",
    source=f"{_HELP}; {_GUIDE}",
    option="--Ofast-compile={}",
    riskier=(("0", Risk.EXACT),),
)

_CONTRACTION = Control(
    name="ptxas.fmad",
    layer=Layer.PTXAS,
    domain=Choice(("true", "false"), usual_count=1),
    default="true",
    risk=Risk.ROUNDING,
    meaning="Whether a multiply and an add that are still apart become one fused operation.",
    source=f"{_HELP}; {_GUIDE}",
    option="--fmad={}",
    riskier=(("true", Risk.EXACT),),
)

_FLOAT_ATOMICS = Control(
    name="ptxas.optimize-float-atomics",
    layer=Layer.PTXAS,
    domain=Choice((False, True)),
    default=False,
    risk=Risk.ROUNDING,
    meaning="Combines floating-point atomics of a warp; the order of additions changes.",
    source=f"{_HELP}; {_GUIDE}",
    option="--optimize-float-atomics",
    riskier=((False, Risk.EXACT),),
)

FLOAT_ATOMICS = _FLOAT_ATOMICS.name
REGISTER_LIMITS = frozenset({_MAX_REGISTERS.name, _BLOCKS_PER_SM.name})

# All controls but the version, in the order in which they are shown and tried.
PTXAS = (
    _MAX_REGISTERS,
    _REGISTER_USAGE,
    _DEFAULT_LOADS,
    _DEFAULT_STORES,
    _BLOCKS_PER_SM,
    _FORCED_LOADS,
    _FORCED_STORES,
    _OPT_LEVEL,
    _FAST_COMPILE,
    _CONTRACTION,
    _FLOAT_ATOMICS,
)


def version_control(versions: tuple[str, ...]) -> Control:
    """The control that chooses among installed versions; the first is the plain build's."""
    return Control(
        name=VERSION,
        layer=Layer.PTXAS,
        domain=Choice(versions, usual_count=min(2, len(versions))),
        default=versions[0],
        risk=Risk.EXACT,
        meaning="Which installed version of ptxas assembles the kernel.",
        source=f"{_HELP}; burnish toolchain list",
    )

"""Controls from what gcc lists: which there are, what they may be told, what they risk."""

from dataclasses import replace

import pytest

from burnish.controls.host import CONTRACT, LEVEL, Listing, fuses, host_controls
from burnish.controls.host_help import listed
from burnish.controls.host_known import BLOCKED, RISKS, USUAL
from burnish.model.control import Control, Risk

MEANINGS = """\
The following options control optimizations:
  -O<number>                  Set optimization level to <number>.
  -falign-loops               Align the start of loops.
  -falign-loops=              This option lacks documentation.
  -fassociative-math          Allow optimization for floating-point arithmetic
                              which may change the result of the operation due
                              to rounding.
  -ffp-contract=[off|on|fast] Perform floating-point expression contraction.
  -fgcse                      Perform global common subexpression elimination.
  -fira-hoist-pressure        Use IRA based register pressure calculation in RTL
                              hoist optimizations.
  -flifetime-dse=<0,2>        This option lacks documentation.
  -fnew-and-unknown           Does what nobody has heard of.
  -fpack-struct=<number>      Set initial maximum structure member alignment.
  -fprefetch-loop-arrays      Generate prefetch instructions, if available, for
                              arrays in loops.
  -fshort-enums               Use the narrowest integer type possible for
                              enumeration types.
  -fsigned-zeros              Disable floating point optimizations that ignore
                              the IEEE signedness of zero.
  -fstack-protector           Use propolice as a stack protection method.
  -funroll-loops              Perform loop unrolling when iteration count is
                              known.

The following options control parameters:
  --param=align-threshold=<1,65536> Select fraction of the maximal frequency.
  --param=asan-stack=<0,1>    Enable asan stack protection.
  --param=evrp-mode=          Specifies the mode Early VRP should operate in.
  --param=max-combine-insns=<2,4> The maximum number of insns combine tries to
                              combine.
  --param=max-unroll-times=   The maximum number of unrollings of a single
                              loop.
  --param=vect-max-peeling-for-alignment=<0,64> Maximum number of loop peels.

The following options are target specific:
  -m32                        Generate 32bit i386 code.
  -mabi=                      Generate code that conforms to the given ABI.
  -march=                     Generate code for given CPU.
  -mavx                       Support AVX built-in functions.
  -mavx512f                   Support AVX512F built-in functions.
  -mfma                       Support FMA built-in functions.
  -mprefer-vector-width=      Use given register vector width instructions.
  -mrecip                     Generate reciprocals instead of divss and sqrtss.
  -mrecip=                    Control generation of reciprocal estimates.
  -msse                       Support MMX and SSE built-in functions.
  -mtune=                     Schedule code for given CPU.
  -mvzeroupper                Generate vzeroupper instruction before a transfer
                              of control flow out of the function.

  Known valid arguments for -mtune= option:
    generic haswell znver3
"""

STATES = """\
The following options control optimizations:
  -O<number>                  \t\t
  -falign-loops               \t\t[enabled]
  -falign-loops=              \t\t16:11:8
  -fassociative-math          \t\t[disabled]
  -ffp-contract=[off|on|fast] \t\tfast
  -fgcse                      \t\t[enabled]
  -fhandle-exceptions         \t\t-fexceptions
  -fira-hoist-pressure        \t\t[enabled]
  -flifetime-dse=<0,2>        \t\t2
  -fnew-and-unknown           \t\t[disabled]
  -fpack-struct=<number>      \t\t
  -fprefetch-loop-arrays      \t\t
  -frtti                      \t\t[available in C++, D, ObjC++]
  -fshort-enums               \t\t[enabled]
  -fsigned-zeros              \t\t[enabled]
  -fstack-protector           \t\t[disabled]
  -fno-threadsafe-statics     \t\t[available in C++, ObjC++]
  -funroll-loops              \t\t[disabled]

The following options control parameters:
  --param=align-threshold=<1,65536> \t\t100
  --param=asan-stack=<0,1>    \t\t1
  --param=evrp-mode=          \t\tranger
  --param=max-combine-insns=<2,4> \t\t4
  --param=max-unroll-times=   \t\t8
  --param=vect-max-peeling-for-alignment=<0,64> \t-1

The following options are target specific:
  -m32                        \t\t[disabled]
  -mabi=                      \t\tsysv
  -march=                     \t\tx86-64
  -mavx                       \t\t[disabled]
  -mavx512f                   \t\t[disabled]
  -mfma                       \t\t[disabled]
  -mprefer-vector-width=      \t\tnone
  -mrecip                     \t\t[disabled]
  -mrecip=                    \t\t
  -msse                       \t\t[enabled]
  -mtune=                     \t\tgeneric
  -mvzeroupper                \t\t[enabled]
"""


def with_on(*flags: str) -> str:
    """The states after options that switch some of them on."""
    states = STATES
    for flag in flags:
        line = next(line for line in STATES.splitlines() if line.startswith(f"  {flag} "))
        states = states.replace(line, line.replace("[disabled]", "[enabled]"))
    return states


LISTING = Listing(
    meanings=MEANINGS,
    states=STATES,
    native=with_on("-mavx", "-mfma"),
    levels={
        "x86-64-v2": STATES,
        "x86-64-v3": with_on("-mavx", "-mfma"),
        "x86-64-v4": with_on("-mavx", "-mfma", "-mavx512f"),
    },
    machine="x86_64",
)


def controls(listing: Listing = LISTING, level: str = "3") -> dict[str, Control]:
    return {
        control.name.removeprefix("host."): control for control in host_controls(listing, level)
    }


def values(name: str, listing: Listing = LISTING) -> tuple[object, ...]:
    domain = controls(listing)[name].domain
    return tuple(domain.at(number) for number in range(domain.size))


def test_a_switch_offers_what_it_is_not() -> None:
    assert values("unroll-loops") == ("default", "on")
    assert values("gcse") == ("default", "off")
    assert values("prefetch-loop-arrays") == ("default", "on", "off")


def test_the_plain_builds_options_decide_what_a_switch_is() -> None:
    listing = replace(LISTING, states=with_on("-funroll-loops"))
    assert values("unroll-loops", listing) == ("default", "off")


def test_listed_words_are_the_values() -> None:
    assert values("fp-contract") == ("default", "off", "on")
    assert values("lifetime-dse") == ("default", "1", "0")


def test_numbers_lie_round_the_default_and_within_bounds() -> None:
    assert values("param.max-unroll-times") == ("default", "4", "2", "16", "32", "128")
    assert values("param.max-combine-insns") == ("default", "3", "2")
    assert values("param.vect-max-peeling-for-alignment")[:4] == ("default", "0", "1", "2")
    assert "64" in values("param.vect-max-peeling-for-alignment")


def test_an_alignment_is_one_control() -> None:
    assert values("align-loops") == ("default", "1", "16", "32", "64")
    assert controls()["align-loops"].option == "-falign-loops={}"


@pytest.mark.parametrize(
    "name",
    [
        *("pack-struct", "short-enums", "stack-protector", "handle-exceptions", "rtti"),
        *("threadsafe-statics", "no-threadsafe-statics", "param.asan-stack", "param.evrp-mode"),
        *("m32", "mabi", "msse", "O<number>"),
    ],
)
def test_what_is_no_decision_about_code_is_no_control(name: str) -> None:
    assert name not in controls()


def test_instructions_that_this_processor_lacks_are_not_offered() -> None:
    assert values("march") == ("default", "native", "x86-64-v3", "x86-64-v2")
    assert values("mprefer-vector-width") == ("default", "256", "128")
    assert "mavx" in controls()
    assert "mavx512f" not in controls()


def test_processors_to_tune_for_are_those_that_gcc_knows() -> None:
    assert values("mtune") == ("default", "native", "haswell", "znver3", "generic")


def test_usual_controls_come_first_and_in_order() -> None:
    names = list(controls())
    usual = [name for name in USUAL if name in names]
    assert names[: len(usual)] == usual
    assert names[:2] == ["march", "unroll-loops"]


def test_values_of_other_controls_are_exotic() -> None:
    domain = controls()["new-and-unknown"].domain
    assert (domain.size, domain.usual) == (2, 1)
    assert controls()["unroll-loops"].domain.usual == 2


def test_every_control_has_a_meaning_and_a_source() -> None:
    for control in controls().values():
        assert control.meaning
        assert control.source.startswith("https://gcc.gnu.org/")
    meaning = controls()["ira-hoist-pressure"].meaning
    assert meaning == "Use IRA based register pressure calculation in RTL hoist optimizations."


def test_the_level_of_the_plain_build_is_the_default() -> None:
    assert controls(level="2")["opt-level"].default == "2"
    domain = controls(level="0")["opt-level"].domain
    assert [domain.at(number) for number in range(domain.size)][:3] == ["0", "3", "2"]


def test_fast_math_rounds() -> None:
    assert controls()["associative-math"].risk_of("on") is Risk.ROUNDING
    assert controls()["signed-zeros"].risk_of("off") is Risk.ROUNDING
    assert controls()["mrecip"].risk_of("on") is Risk.ROUNDING
    assert controls()["opt-level"].risk_of("fast") is Risk.ROUNDING
    assert controls()["opt-level"].risk_of("2") is Risk.EXACT
    assert controls()["gcse"].risk_of("off") is Risk.EXACT
    for control in controls().values():
        assert control.risk_of(control.default) is Risk.EXACT


def test_leaving_fused_operations_out_is_exact_where_the_plain_build_has_none() -> None:
    assert not fuses(LISTING)
    assert controls()["fp-contract"].risk_of("off") is Risk.EXACT
    fused = replace(LISTING, states=with_on("-mfma"))
    assert fuses(fused)
    assert controls(fused)["fp-contract"].risk_of("off") is Risk.ROUNDING
    assert fuses(replace(LISTING, machine="aarch64"))


def test_a_processor_that_is_not_known_leaves_the_general_controls() -> None:
    names = controls(replace(LISTING, machine="riscv64"))
    assert "unroll-loops" in names
    assert not [name for name in names if name.startswith("m")]


def test_a_gcc_that_lists_nothing_leaves_the_level() -> None:
    assert list(controls(Listing("", "", "", {}, "x86_64"))) == ["opt-level"]


def test_what_is_listed_is_read_with_its_bounds_and_words() -> None:
    found = {one.flag: one for one in listed(MEANINGS, STATES)}
    assert found["--param=align-threshold="].bounds == (1, 65536)
    assert found["-ffp-contract="].values == ("off", "on", "fast")
    assert found["-mtune="].state == "generic"
    assert found["-falign-loops="].meaning == ""
    assert not [flag for flag in found if "generic haswell" in flag]


def test_no_option_is_usual_and_blocked() -> None:
    assert not USUAL.keys() & BLOCKED.keys()
    assert not RISKS.keys() & BLOCKED.keys()
    assert {CONTRACT, LEVEL} <= {f"host.{name}" for name in USUAL}

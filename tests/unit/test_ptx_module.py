import contextlib
import time
from pathlib import Path

import pytest

from burnish.errors import KernelError
from burnish.ptx.declared import Function, Parameter
from burnish.ptx.module import parse

DATA = Path(__file__).parents[1] / "data"
HANDMADE = (DATA / "handmade.ptx").read_text()
MIXED = (DATA / "mixed.ptx").read_text()
START = ".version 8.4\n.target sm_90\n.address_size 64\n"


def test_what_is_said_to_the_whole_module_is_read() -> None:
    module = parse(HANDMADE)
    assert (module.version, module.target, module.address_size) == ("8.4", "sm_90a", 64)
    assert [pragma.split()[1] for pragma in module.pragmas] == ['"nounroll";']
    assert [HANDMADE[slice(*span)].split()[1] for span in module.sections] == [
        ".debug_str",
        ".debug_info",
        ".debug_loc",
    ]


def test_a_target_keeps_what_follows_it() -> None:
    assert parse(START.replace("sm_90", "sm_90 ,debug") + ".entry a(){ret;}").target == (
        "sm_90, debug"
    )


def test_entries_and_functions_are_found_with_their_linkage() -> None:
    module = parse(HANDMADE)
    assert [entry.name for entry in module.entries] == ["small", "tiny"]
    assert [(found.name, found.linkage, found.is_defined) for found in module.functions] == [
        ("vprintf", "extern", False),
        ("target", "weak", True),
        ("small", "visible", True),
        ("tiny", "", True),
    ]
    assert [alias.name for alias in module.aliases] == ["other"]


def test_a_span_holds_exactly_the_statement() -> None:
    module = parse(HANDMADE)
    small = module.entry("small")
    assert HANDMADE[slice(*small.span)] == small.text
    assert small.text.startswith(".visible .entry small(")
    assert small.text.endswith("$L__func_end0:\n}")
    assert small.text[small.body] == "{"
    assert len(small.code) == len(small.text)
    assert module.entry("tiny").text == ".entry tiny() { ret; }"
    variable = next(found for found in module.variables if found.name == "where")
    assert variable.text == ".weak .global .align 8 .u64 where[2] = {generic(weights), target};"


def test_parameters_have_sizes_alignments_and_pointers() -> None:
    module = parse(HANDMADE)
    assert module.entry("small").parameters == (
        Parameter("small_param_0", "u64", 8, 8, "global"),
        Parameter("small_param_1", "b8", 12, 4),
    )
    assert module.entry("tiny").parameters == ()
    target = module.symbols["target"]
    assert target in module.functions
    function = next(found for found in module.functions if found.name == "target")
    assert function.results == (Parameter("result", "b8", 16, 8),)
    assert function.parameters == (Parameter("x", "f32", 4, 4), Parameter("rest", "b8", 24, 8))
    assert dict(function.directives) == {"noreturn": ""}


def test_performance_directives_are_read() -> None:
    small = parse(HANDMADE).entry("small")
    assert small.reqntid == (128, 2)
    assert small.maxnreg == 40
    assert small.maxntid == ()
    assert small.minnctapersm is None
    assert small.directives["reqnctapercluster"] == "2, 1, 1"
    talks = parse(MIXED).entry("_Z5talksPfi")
    assert talks.maxntid == (128, 1, 1)
    assert talks.minnctapersm == 4


def test_a_directive_without_numbers_is_refused() -> None:
    module = parse(START + ".entry a() .maxnreg many { ret; }")
    with pytest.raises(KernelError, match=r"a: \.maxnreg wants numbers, not 'many'"):
        _ = module.entry("a").maxnreg


@pytest.mark.parametrize(
    ("name", "declared", "initialised"),
    [
        ("global_smem", Parameter("global_smem", "b8", 0, 16), False),
        ("weights", Parameter("weights", "f32", 64, 16), True),
        ("where", Parameter("where", "u64", 16, 8), True),
        ("managed", Parameter("managed", "b32", 4, 4), False),
        ("image", Parameter("image", "texref", 8, 8), False),
    ],
)
def test_variables_are_read(name: str, declared: Parameter, *, initialised: bool) -> None:
    variable = next(found for found in parse(HANDMADE).variables if found.name == name)
    assert variable.declared == declared
    assert variable.is_initialised is initialised


def test_what_an_entry_uses_is_found_directly_and_through_others() -> None:
    module = parse(HANDMADE)
    small = module.entry("small")
    assert module.references(small) == ("where", "global_smem")
    reached = [symbol.name for symbol in module.reached("small")]
    assert reached == ["small", "where", "global_smem", "weights", "target"]
    assert [symbol.name for symbol in module.reached("tiny")] == ["tiny"]


def test_tables_of_functions_and_private_names_are_followed() -> None:
    module = parse(MIXED)
    chooses = [symbol.name for symbol in module.reached("_Z7choosesPfi")]
    assert chooses == ["_Z7choosesPfi", "functions", "_Z4plusf", "_Z5twicef"]
    assert [
        symbol.is_defined for symbol in module.reached("_Z4plusf") if isinstance(symbol, Function)
    ] == [True], "the definition, not the declaration before it"
    hidden = next(entry.name for entry in module.entries if "hidden" in entry.name)
    assert [name[-6:] for name in (symbol.name for symbol in module.reached(hidden))][1:] == [
        "perEfi",
        "ientsE",
        "tableE",
    ]


def test_a_name_inside_another_name_is_no_use_of_it() -> None:
    text = START + ".global .b32 x;\n.entry a(.param .u32 x_param) { ld.x.u32 %x, [$x]; ret; }"
    module = parse(text)
    assert module.references(module.entry("a")) == ()


def test_an_alias_leads_to_what_it_names() -> None:
    text = START + ".func f() {ret;}\n.func g();\n.alias g, f;\n.entry a() { call g, (), p; ret; }"
    assert [symbol.name for symbol in parse(text).reached("a")] == ["a", "g", "f"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the PTX is empty"),
        (" \n\t", "the PTX is empty"),
        ("// nothing but words", "no .version"),
        (".version 8.4\n", "no .target"),
        (".target sm_90\n.address_size 64\n", "no .version"),
        ("hello, world\n", "line 1: this is no PTX: 'hello, world'"),
        ("\x7fELF\x02\x01", "line 1: this is no PTX"),
        (START, r"no \.entry"),
        (START + ".func f() { ret; }", r"no \.entry"),
        (START + ".entry a();", r"no \.entry"),
        (START + ".entry a()\n{\n ret;\n", "line 4: this statement does not end"),
        (START + ".entry a()", "line 4: this statement does not end"),
        (START + ".global .b32 x = {1, 2", "line 4: this statement does not end"),
        (START + ".section .debug_info { .b8 1", "line 4: this statement does not end"),
        (START + "/* open\n.entry a(){}", "line 4: this comment does not end"),
        (START + '.file 1 "open\n.entry a(){}', "line 4: this string does not end"),
        (START + ".entry { ret; }", r"line 4: this \.entry has no name"),
        (START + ".global ;", r"line 4: this \.global has no name"),
        (START + ".alias x;", r"line 4: \.alias wants two names"),
        (START + ".nonsense x;", r"line 4: \.nonsense is not understood here"),
    ],
)
def test_what_is_no_whole_ptx_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        parse(text)


def test_an_entry_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(KernelError, match="no entry 'large' in this PTX; it has: small, tiny"):
        parse(HANDMADE).entry("large")


@pytest.mark.parametrize("cut", range(300, 1500, 97))
def test_a_truncated_module_is_refused_or_read_never_a_crash(cut: int) -> None:
    with contextlib.suppress(KernelError):
        parse(MIXED[:cut])


def test_five_thousand_lines_take_milliseconds() -> None:
    line = "\tfma.rn.f32 \t%f1, %f2, %f3, %f1; // begin inline asm\n"
    text = START + ".visible .entry long()\n{\n" + line * 5000 + "\tret;\n}\n"
    best_ms = min(_timed_ms(text) for _ in range(5))
    assert best_ms < 50, "ten times what it takes on a quiet machine"


def _timed_ms(text: str) -> float:
    start = time.perf_counter_ns()
    parse(text)
    return (time.perf_counter_ns() - start) / 1e6

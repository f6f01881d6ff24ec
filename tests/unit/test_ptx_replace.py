import re
from pathlib import Path

import pytest

from burnish.errors import KernelError
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.ptx.replace import (
    apply_payload,
    lower_version,
    payload,
    refuses,
    uses_setmaxnreg,
)

DATA = Path(__file__).parents[1] / "data"
MIXED = (DATA / "mixed.ptx").read_text()
AXPY = (DATA / "axpy.ptx").read_text()
HANDMADE = (DATA / "handmade.ptx").read_text()
HIDDEN = next(entry.name for entry in parse(MIXED).entries if "hidden" in entry.name)
FILE = re.search(r"_[0-9a-f]{8}_8_mixed_cu_\w+?(?=\d+_GLOBAL)", MIXED)
START = ".version 8.4\n.target sm_90\n.address_size 64\n"
OTHER_ENTRY = ".visible .entry other() { ret; }\n"


def in_another_file(text: str) -> str:
    assert FILE
    old, new = FILE[0], "_0123abcd_11_renamed_cu_xyz"
    text = text.replace(f"{9 + len(old)}_INTERNAL{old}", f"{9 + len(new)}_INTERNAL{new}")
    return text.replace(f"{11 + len(old)}_GLOBAL__N_{old}", f"{11 + len(new)}_GLOBAL__N_{new}")


def made(plain: str, tuned: str, entry: str) -> str:
    return payload(parse(plain), parse(tuned), entry)


def replaced(plain: str, tuned: str, entry: str) -> str:
    return apply_payload(plain, made(plain, tuned, entry), entry)


def module(body: str, before: str = "", kernel: str = "k", linkage: str = ".visible ") -> str:
    return (
        f"{START}{before}\n{linkage}.entry {kernel}(.param .u64 p)\n{{\n{body}\n}}\n{OTHER_ENTRY}"
    )


@pytest.mark.parametrize(
    ("text", "entry", "old", "new"),
    [
        (AXPY, "axpy", "fma.rn.f32", "fma.rz.f32"),
        (MIXED, HIDDEN, "add.f32", "sub.f32"),
        (MIXED, "_Z5talksPfi", ".minnctapersm 4", ".minnctapersm 2"),
        (MIXED, "_Z7choosesPfi", "ld.global", "ld.volatile.global"),
    ],
)
def test_an_entry_rewritten_in_place_comes_back_as_it_was(
    text: str, entry: str, old: str, new: str
) -> None:
    span = parse(text).entry(entry).span
    body = text[slice(*span)].replace(old, new)
    tuned = text[: span[0]] + body + text[span[1] :]
    assert tuned != text
    result = replaced(text, tuned, entry)
    assert entry_digest(parse(result), entry) == entry_digest(parse(tuned), entry)
    assert result[: span[0]] == text[: span[0]]
    assert result.endswith(text[span[1] :])


def test_a_payload_of_an_entry_alone_holds_nothing_else() -> None:
    text = made(AXPY, AXPY.replace("fma.rn", "fma.rz"), "axpy")
    assert text.startswith(".version 9.5\n\n.visible .entry axpy(")
    assert "//" not in text
    assert ".target" not in text


def test_line_marks_and_comments_stay_at_home() -> None:
    tuned = AXPY.replace("\tret;", "\t.loc 1 2 3 // back\n$L__tmp1:\n\tret;")
    text = made(AXPY, tuned, "axpy")
    assert not re.search(r"\.loc|\$L__tmp|//", text)


def test_private_names_are_bound_to_the_module_that_is_built() -> None:
    text = made(MIXED, MIXED, HIDDEN)
    assert "mixed_cu" not in text
    elsewhere = in_another_file(MIXED)
    name = next(entry.name for entry in parse(elsewhere).entries if "hidden" in entry.name)
    result = apply_payload(elsewhere, text, name)
    assert "mixed_cu" not in result
    assert entry_digest(parse(result), name) == entry_digest(parse(elsewhere), name)


def test_a_tuned_module_may_come_from_another_file() -> None:
    tuned = in_another_file(MIXED).replace("%r1, %tid.x", "%r1, %tid.x /**/")
    result = replaced(MIXED, tuned, HIDDEN)
    assert entry_digest(parse(result), HIDDEN) == entry_digest(parse(MIXED), HIDDEN)
    assert "renamed_cu" not in result


def test_generated_texts_are_found_by_what_they_are() -> None:
    shifted = MIXED.replace("$str$2", "$str$7").replace("$str$1", "$str$6")
    shifted = shifted.replace("__unnamed_1", "__unnamed_4")
    result = apply_payload(shifted, made(MIXED, MIXED, "_Z5talksPfi"), "_Z5talksPfi")
    assert entry_digest(parse(result), "_Z5talksPfi") == entry_digest(parse(MIXED), "_Z5talksPfi")


def test_a_function_that_differs_travels_under_a_private_name() -> None:
    """The plain one may be used by other entries."""
    before = ".func f() { ret; }\n.func g() { call f; ret; }"
    plain = module("call g; ret;", before)
    tuned = module("call g; ret;", before.replace("f() { ret;", "f() { exit;"))
    text = made(plain, tuned, "k")
    names = set(re.findall(r"(\w)(\$burnish_[0-9a-f]{8})(?!\w)", text))
    assert {name for name, _ in names} == {"f", "g"}
    assert len({mark for _, mark in names}) == 1
    result = apply_payload(plain, text, "k")
    reached = [symbol.name.partition("$burnish_")[0] for symbol in parse(result).reached("k")]
    assert reached == ["k", "g", "f"]
    assert ".func f() { ret; }" in result


def test_two_payloads_in_one_module_do_not_collide() -> None:
    before = ".func f() { ret; }"
    plain = module("call f; ret;", before) + module("call f; ret;", kernel="k2")[len(START) :]
    plain = plain.replace(OTHER_ENTRY, "", 1)
    for entry, body in (("k", "exit;"), ("k2", "trap;")):
        tuned = plain.replace(before, f".func f() {{ {body} }}")
        plain = apply_payload(plain, made(plain, tuned, entry), entry)
    functions = [found for found in parse(plain).functions if found.is_defined]
    names = [found.name for found in functions]
    assert len(names) == len(set(names)) == 6


def test_new_constant_data_and_shared_memory_travel() -> None:
    plain = module("ret;")
    before = (
        ".visible .shared .align 8 .b8 tile[64];\n"
        ".const .align 4 .b8 table[4] = {1, 2, 3, 4};\n.extern .shared .align 16 .b8 dyn[];"
    )
    result = replaced(plain, module("use tile, table, dyn; ret;", before), "k")
    variables = parse(result).variables
    assert [re.sub(r"_\w{8}$", "", found.name) for found in variables] == [
        "tile$burnish",
        "table$burnish",
        "dyn",
    ]
    assert [found.linkage for found in variables] == ["", "", "extern"]


def test_what_travelled_once_keeps_its_name() -> None:
    """So a tuner can compile what will be built, and keep that."""
    tuned = module("call f; use table; ret;", ".func f() { exit; }\n.const .b8 table = 1;")
    once = replaced(module("ret;"), tuned, "k")
    assert replaced(module("ret;"), once, "k") == once


def test_declarations_that_are_there_already_are_not_repeated() -> None:
    declared = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);"
    text = made(module("ret;"), module("call vprintf; ret;", declared), "k")
    assert "vprintf" in text
    into_one_with_it = apply_payload(module("ret;", declared), text, "k")
    assert into_one_with_it.count(".extern .func") == 1
    into_one_without = apply_payload(module("ret;"), text, "k")
    assert into_one_without.count(".extern .func") == 1
    with pytest.raises(KernelError, match="vprintf in the payload of k is there already"):
        apply_payload(module("ret;", declared.replace("b64 b", "b32 b")), text, "k")


def test_the_plain_linkage_stays() -> None:
    hidden = module("ret;", linkage="")
    assert "\n.entry k(" in replaced(hidden, module("exit;"), "k")
    assert "\n.visible .entry k(" in replaced(module("ret;"), module("exit;", linkage=""), "k")


@pytest.mark.parametrize(
    ("ours", "theirs", "result"), [("8.4", "9.0", "9.0"), ("9.10", "9.9", "9.10")]
)
def test_the_newer_version_of_the_two_is_kept(ours: str, theirs: str, result: str) -> None:
    plain = module("ret;").replace("8.4", ours)
    tuned = module("exit;").replace("8.4", theirs)
    assert parse(replaced(plain, tuned, "k")).version == result


@pytest.mark.parametrize(
    ("plain", "tuned", "message"),
    [
        (
            module("ret;"),
            module("ret;").replace("sm_90", "sm_90a"),
            r"other \.target than the plain",
        ),
        (module("ret;"), module("ret;").replace(".u64 p", ".u32 p"), "other parameters .* \\[4\\]"),
        (module("ret;"), module("ret;", '.pragma "nounroll";'), r"other \.pragma"),
        (module("ret;"), module("ret;", kernel="q"), "no entry 'k'"),
        (
            module("use x;", ".visible .global .b32 x;"),
            module("use x;", ".visible .global .b64 x;"),
            "x is declared differently there",
        ),
        (
            module("ret;"),
            module("use x;", ".global .b32 x;"),
            "x is memory that the plain module lacks",
        ),
        (
            module("use counter;", ".global .b32 counter = 1;"),
            module("use _ZL7counter;", ".global .b32 _ZL7counter = 1;"),
            "_ZL7counter would stand for counter, which others may see",
        ),
        (module("ret;"), module("use x;", ".extern .global .b32 x;"), "x is memory"),
        (
            module("call f;", ".extern .func f(.param .b32 a);"),
            module("call f;", ".extern .func f(.param .b64 a);"),
            "f is declared differently there",
        ),
        (
            module("ret;"),
            module("call g;", ".func f() { ret; }\n.alias g, f;"),
            "g is an alias that the plain module lacks",
        ),
        (module("ret;"), module("use $file3$;", ".const .b8 $file3$ = 1;"), "keeps for itself"),
    ],
)
def test_what_cannot_stand_in_the_plain_module_is_refused(
    plain: str, tuned: str, message: str
) -> None:
    with pytest.raises(KernelError, match=message):
        made(plain, tuned, "k")


def test_a_payload_for_another_module_is_refused() -> None:
    plain = module("use x;", ".visible .global .b32 x;")
    text = made(plain, plain, "k")
    assert re.search(r"^// burnish uses x [0-9a-f]{16}$", text, re.MULTILINE)
    with pytest.raises(KernelError, match="uses x, which is not in this PTX"):
        apply_payload(module("ret;"), text, "k")
    with pytest.raises(KernelError, match="uses x, which is declared differently in this PTX"):
        apply_payload(module("use x;", ".visible .global .b64 x;"), text, "k")
    with pytest.raises(KernelError, match="no entry 'k'"):
        apply_payload(module("ret;", kernel="q"), text, "k")
    with pytest.raises(KernelError, match="does not hold that entry"):
        apply_payload(plain.replace("entry k(", "entry q("), text, "q")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("garbage", "no PTX"),
        (".version 8.4\n", "does not hold that entry"),
        (".version 8.4\n.entry k() { ret; }\n.entry more() { ret; }", "does not hold"),
        (".version 8.4\n.entry k() { ret;", "does not end"),
        (".version 8.4\n.entry _INTERNAL$file4$k() { ret; }", "unknown in this PTX"),
        ('.version 8.4\n.pragma "x";\n.entry k() { ret; }', "does not hold"),
        (".version 8.4\n.entry k() { ret; }\n.func other() { ret; }", "is there already"),
    ],
)
def test_a_payload_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        apply_payload(module("ret;"), text, "k")


def test_debug_data_that_tell_of_the_replaced_entry_go() -> None:
    tuned = HANDMADE.replace('.pragma "nounroll";\n$L', "$L")
    result = replaced(HANDMADE, tuned, "small")
    assert ".section" not in result
    assert ".loc" not in result
    assert entry_digest(parse(result), "small") == entry_digest(parse(tuned), "small")
    assert entry_digest(parse(result), "tiny") == entry_digest(parse(HANDMADE), "tiny")


def test_debug_data_of_others_stay() -> None:
    tuned = HANDMADE.replace(".entry tiny() { ret; }", ".entry tiny() { exit; }")
    result = replaced(HANDMADE, tuned, "tiny")
    assert result.count(".section") == 3
    assert result.count(".loc") == HANDMADE.count(".loc")


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("", None),
        (".extern .func vprintf();\n.extern .func __assertfail();", None),
        (".extern .func f();", "it calls the device function f, which is in another file"),
        (".func f();", "it calls the device function f"),
        (".func f();\n.func f() { ret; }", None),
        (".extern .func unused();", None),
        (".extern .shared .align 16 .b8 f[];", None),
        (".extern .global .b32 f;", "it uses the device variable f, which is in another file"),
        (".extern .const .b32 f[4];", "it uses the device variable f"),
        (".visible .global .b32 f;", None),
    ],
)
def test_what_needs_another_file_is_refused_with_the_reason(
    before: str, reason: str | None
) -> None:
    said = refuses(parse(module("call vprintf; call __assertfail; call f; ret;", before)))
    assert said is None if reason is None else said and said.startswith(reason)


def test_a_debug_build_is_refused() -> None:
    said = refuses(parse(module("ret;").replace("sm_90", "sm_90, debug")))
    assert said
    assert said.startswith("it is a debug build")


def test_setmaxnreg_is_seen_but_not_in_a_comment() -> None:
    assert uses_setmaxnreg(parse(module("setmaxnreg.inc.sync.aligned.u32 64;")).entry("k"))
    assert not uses_setmaxnreg(parse(module("ret; // setmaxnreg.inc")).entry("k"))
    assert not uses_setmaxnreg(parse(module("mov x, my_setmaxnregs;")).entry("k"))


@pytest.mark.parametrize(
    ("version", "newest", "result"),
    [("9.5", "8.4", "8.4"), ("8.4", "9.5", "8.4"), ("8.10", "8.9", "8.9"), ("8.4", "8.4", "8.4")],
)
def test_only_a_newer_version_is_lowered(version: str, newest: str, result: str) -> None:
    text = f"/*\n.version 7.0\n*/ // .version 6.0\n\t.version\t{version} // here\n.target sm_90\n"
    assert lower_version(text, newest) == text.replace(f"\t{version} ", f"\t{result} ")

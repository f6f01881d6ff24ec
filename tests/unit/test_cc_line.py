"""Command lines of gcc as builds: their sources, and how one of them is built otherwise."""

import subprocess
import sys
from pathlib import Path

import pytest

from burnish.apply.cc_line import Build, expanded, read_build

SOURCE = Path(__file__).parents[2] / "src"
TUNED = ("-O3", "-fno-math-errno")


def read(said: str) -> Build:
    return read_build(said.split())


def names(said: str) -> list[str]:
    return [source.name for source in read(said).sources]


@pytest.mark.parametrize(
    ("said", "sources"),
    [
        ("-c a.c", "a.c"),
        ("a.c b.cpp c.o d.c e.S f.i -lm -o prog", "a.c d.c"),
        ("-x c a.h -x none b.c c.h", "a.h b.c"),
        ("-x c++ a.c -xc b", "b"),
        ("-c a.c b.c", "a.c b.c"),
        ("-S a.c", "a.c"),
        ("-I b.c -include c.c -MF d.c -o e.c a.c", "a.c"),
        # Nothing is compiled, or gcc itself has something to say about it.
        ("-E a.c", ""),
        ("-M a.c", ""),
        ("-### a.c", ""),
        ("-fsyntax-only a.c", ""),
        ("-c a.c b.c -o both.o", ""),
        ("--version", ""),
        ("-xc -", ""),
        ("", ""),
    ],
)
def test_c_sources_are_found(said: str, sources: str) -> None:
    assert names(said) == sources.split()


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("-O2 -c a.c -o a.o", "-O3 -fno-math-errno -c a.c -oa.o"),
        (
            "-g -Wall -fPIC -O2 -DX=1 -I i -MMD -MF a.d -march=native -c a.c",
            "-O3 -fno-math-errno -g -Wall -fPIC -DX=1 -Ii -MMD -MF a.d -c a.c",
        ),
        ("-O1 -c b.c a.c", "-O3 -fno-math-errno -c a.c"),
    ],
)
def test_tuned_options_replace_those_for_machine_code_and_nothing_else(
    said: str, wanted: str
) -> None:
    build = read(said)
    source = next(one for one in build.sources if one.name == "a.c")
    assert build.alone(source, TUNED, "") == wanted.split()


def test_in_a_build_that_links_a_source_becomes_an_object_first() -> None:
    build = read("-O2 -g main.c k.c -lm -o prog")
    main, kernel = build.sources
    assert build.alone(kernel, TUNED, "/t/0.o") == [
        *TUNED,
        "-g",
        "k.c",
        "-lm",
        "-c",
        "-o",
        "/t/0.o",
    ]
    assert build.rest({kernel: "/t/0.o"}) == ["-O2", "-g", "main.c", "/t/0.o", "-lm", "-oprog"]
    assert build.leaves_inputs({main: "/t/0.o", kernel: "/t/1.o"})


def test_an_object_is_no_c_source_where_everything_is_one() -> None:
    build = read("-xc k main.c")
    assert build.rest({build.sources[0]: "0.o"}) == ["-xc", "-xnone", "0.o", "-xc", "main.c"]


def test_what_is_built_with_c_is_left_out_of_the_rest() -> None:
    build = read("-c a.c b.c")
    first, second = build.sources
    assert build.rest({first: ""}) == ["-c", "b.c"]
    assert build.leaves_inputs({first: ""})
    assert not build.leaves_inputs({first: "", second: ""})


def test_options_that_change_the_text_are_known_and_those_that_write_files_are_not() -> None:
    build = read("-DA -fPIC -Wp,-MMD,x.d -O2 -fno-pie -include h.h -g a.c")
    assert build.text_options == ("-DA", "-include", "h.h", "-fPIC", "-fno-pie")
    assert build.beside == ""
    assert read("-MMD a.c").beside == "-MMD"
    assert read("a.c --coverage").beside == "--coverage"


def test_a_response_file_is_read_as_gcc_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inner").write_text("-DI")
    Path("words").write_text("-O2\n 'a b.c'\t\"c\\\"d\" e\\ f @inner -D'X=\"1\"' ''\n")
    assert expanded(["-c", "@words", "@missing"]) == [
        *("-c", "-O2", "a b.c", 'c"d', "e f", "-DI", '-DX="1"', "", "@missing"),
    ]
    Path("loop").write_text("@loop")
    assert expanded(["@loop"]) == ["@loop"]


def test_a_build_loads_only_the_standard_library() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r})\n"
        "import burnish.apply.cc, burnish.apply.cc_job\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) - sys.stdlib_module_names <= {"burnish", "__main__"}

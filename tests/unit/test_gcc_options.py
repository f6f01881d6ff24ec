"""gcc command lines: what counts, in which order, and what may come out of a controls file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.toolchain.gcc_options import is_tuning_option, parse, without_value


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("-O2 -I", "-I"),
        ("-include", "-include"),
        ("--param", "--param"),
        ("-O -Iinc -I inc -D N -include x.h --param a=1 -x c k.c -o k.o -march=native", ""),
        ("", ""),
    ],
)
def test_an_option_without_its_value_is_found(line: str, word: str) -> None:
    assert without_value(line.split()) == word


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("", ""),
        ("-O", "-O1"),
        ("-O9", "-O3"),
        ("-O2 -O3", "-O3"),
        ("-funroll-loops -O3", "-O3 -funroll-loops"),
        ("-fivopts -O2 -fno-ivopts", "-O2 -fno-ivopts"),
        ("-fvect-cost-model=cheap -fvect-cost-model=dynamic", "-fvect-cost-model=dynamic"),
        ("-mtune=generic -march=native -mtune=native", "-march=native -mtune=native"),
        ("--param max-unroll-times=4", "--param=max-unroll-times=4"),
        ("--param=a=1 --param b=2 --param=a=3", "--param=b=2 --param=a=3"),
        # Order matters between different ones, and between what implies others.
        ("-fno-associative-math -ffast-math", "-fno-associative-math -ffast-math"),
        ("-ffast-math -fno-associative-math -ffast-math", ...),
        ("-mavx2 -mno-avx -mavx", ...),
        ("-ftree-vectorize -fno-tree-slp-vectorize -ftree-vectorize", ...),
        ("-mtune-ctrl=a -mtune-ctrl=b", ...),
        # What decides nothing about the code.
        ("-c k.c -o k.o -O2", "-O2"),
        ("-Wall -Wextra -Werror=shadow -w -pedantic -O2 -g -g3 -ggdb -pipe -v", "-O2"),
        ("-MMD -MF k.d -MT k.o -O1", "-O1"),
        ("-fPIC -fno-pie -shared -lm -L/lib -Wl,-O1 -static -pthread -O2", "-O2"),
        ("-I include -Iother -DN=3 -D M -include x.h -isystem y -U Z -Wp,-DX -O2", "-O2"),
        ("-fdiagnostics-color=always -fno-diagnostics-show-caret -fmax-errors=3", ""),
        ("-save-temps -x c -fdebug-prefix-map=a=b -frandom-seed=1 -fno-ident", ""),
        # What does, though it looks harmless, and what nobody knows.
        ("-std=c99 -O2", "-O2 -std=c99"),
        ("-ansi", "-ansi"),
        ("-fopenmp -pg -Wa,-march=all -fno-such-thing -mwhatever", ...),
    ],
)
def test_the_normal_form(said: str, options: object) -> None:
    wanted = said if options is ... else str(options)
    assert parse(said.split()).options == tuple(wanted.split())


def test_a_command_line_is_taken_apart() -> None:
    said = "-O2 -c a.c -DX -I inc -include pre.h b.c -o out.o -Llib -lfoo -Xlinker -s -pthread -"
    line = parse(said.split())
    assert line.options == ("-O2",)
    assert line.inputs == ("a.c", "b.c", "-")
    assert line.output == "out.o"
    assert line.stops_at == "-c"
    assert line.preprocessing == ("-DX", "-Iinc", "-include", "pre.h", "-pthread")
    assert line.linking == ("-Llib", "-lfoo", "-Xlinker", "-s", "-pthread")


def test_a_value_that_looks_like_an_option_is_a_value() -> None:
    line = parse(["-D", "-O3", "-MF", "-O2", "-o", "-O1"])
    assert line.options == ()
    assert line.output == "-O1"


def test_a_valued_option_at_the_end_is_no_accident() -> None:
    assert parse(["-O2", "-o"]).output == ""
    assert parse(["-O2", "--param"]).options == ("-O2", "--param=")


WORDS = st.sampled_from(
    [
        *("-O", "-O2", "-O3", "-Ofast", "-ffast-math", "-fno-fast-math", "-funroll-loops"),
        *("-fno-unroll-loops", "-fgcse", "-fno-gcse", "-mavx", "-mno-avx", "-march=native"),
        *("-march=x86-64", "--param=x=1", "--param=x=2", "-g", "-Wall", "a.c"),
    ]
)


@given(st.lists(WORDS))
def test_the_normal_form_of_a_normal_form_is_itself(said: list[str]) -> None:
    once = parse(said).options
    assert parse(once).options == once


@pytest.mark.parametrize(
    "option",
    [
        *("-O2", "-Ofast", "-funroll-loops", "-fno-gcse", "-fvect-cost-model=very-cheap"),
        *("-march=x86-64-v3", "-mtune=znver3", "-mprefer-vector-width=512", "-msse4.2"),
        *("--param=max-unroll-times=16", "-falign-loops=32:16", "-fplt", "-fivopts"),
    ],
)
def test_options_that_tune_may_come_out_of_a_file(option: str) -> None:
    assert is_tuning_option(option)


@pytest.mark.parametrize(
    "option",
    [
        *("-fplugin=evil", "-fplugin-arg-evil-x", "-specs=/tmp/x", "-B/tmp", "-wrapper", "-DX"),
        *("-fprofile-use=/tmp/x", "-fdump-tree-all", "-flto", "-o", "/etc/passwd", "@file", "-O9"),
        *("-fopenmp", "-fno-openacc", "-fsanitize=address", "-include", "-Wl,-rpath,/tmp", "k.c"),
        *("-fsave-optimization-record", "-fauto-profile=x", "-finstrument-functions", "-I/tmp"),
        *("-fcallgraph-info", "-march=../../x y", "-fopt-info=/tmp/x", "--param=x=/y", "-mfentry"),
        *("-fcompare-debug=-O0", "-fstack-usage", "-x", "-E", "", "-", "-f", "-fuse-ld=gold"),
        *("-mtune=a\n-fplugin=b", "-fmodule-mapper=x", "-fada-spec-parent=x", "-mveclibabi=svml"),
    ],
)
def test_other_options_may_not(option: str) -> None:
    assert not is_tuning_option(option)

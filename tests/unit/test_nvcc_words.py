"""The words of an nvcc command line, and names as people say them."""

import pytest

from burnish.errors import UsageError
from burnish.toolchain.mangled import chosen, readable
from burnish.toolchain.nvcc_words import sorted_out, without_value


@pytest.mark.parametrize(
    ("line", "kept", "arches", "inputs"),
    [
        ("-O3 -o app -c -I inc -DN=4", "-O3 -I inc -DN=4", "", ""),
        ("--output-file=x -cubin -MD -MF d.mk", "", "", ""),
        ("-arch=sm_90a -lineinfo", "-lineinfo", "-arch=sm_90a", ""),
        ("-gencode arch=compute_90,code=sm_90 -w", "-w", "-gencode arch=compute_90,code=sm_90", ""),
        ("-arch sm_80 -code sm_86,sm_89", "", "-arch sm_80 -code sm_86,sm_89", ""),
        ("-std c++17 main.cu -Xptxas -v,-dlcm=cg", "-std c++17 -Xptxas -v,-dlcm=cg", "", "main.cu"),
        ("-dc -x cu", "--relocatable-device-code=true -x cu", "", ""),
        ("--use_fast_math --keep --keep-dir d", "--use_fast_math", "", ""),
        ("-t 4 --threads=8 -time log", "", "", ""),
        ("-o", "", "", ""),
    ],
)
def test_words_are_sorted_by_what_they_decide(
    line: str, kept: str, arches: str, inputs: str
) -> None:
    words = sorted_out(line.split())
    assert words.kept == tuple(kept.split())
    assert words.arches == tuple(arches.split())
    assert words.inputs == tuple(inputs.split())


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("-O3 -arch", "-arch"),
        ("--gpu-architecture=", "--gpu-architecture="),
        ("-Xptxas", "-Xptxas"),
        ("-gencode arch=compute_90,code=sm_90 -t 4 -lineinfo -time log k.cu", ""),
        ("", ""),
    ],
)
def test_an_option_without_its_value_is_found(line: str, word: str) -> None:
    assert without_value(line.split()) == word


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("stencil", "stencil"),
        ("_Z3addPfi", "add"),
        ("_Z3addIfEvPT_PKS0_i", "add<float>"),
        ("_Z4gemmILi128ELi8EfEvPKT1_", "gemm<128, 8, float>"),
        ("_Z4onceILb1ELin3EEvv", "once<true, -3>"),
        ("_ZN2my4deep4stepEPf", "my::deep::step"),
        ("_ZN2my4stepIdEEvPT_", "my::step<double>"),
        ("_Z3runI3FooN2ns3BarEEvv", "run<Foo, ns::Bar>"),
        ("_ZN28_GLOBAL__N__b0a1c2d3_4_k_cu_6kernelEv", "(anonymous)::kernel"),
        ("_Z3oddIPFvvEEvT_", "odd<…>"),
        ("_Zstrange", "_Zstrange"),
    ],
)
def test_a_symbol_is_said_as_a_person_does(symbol: str, said: str) -> None:
    assert readable(symbol) == said


ADDS = ["_Z3addIfEvPT_", "_Z3addIdEvPT_", "_ZN2my4stepIdEEvPT_", "plain"]


@pytest.mark.parametrize(
    ("wanted", "symbol"),
    [
        ("plain", "plain"),
        ("add<float>", ADDS[0]),
        ("add< double >", ADDS[1]),
        ("my::step<double>", ADDS[2]),
        ("my::step", ADDS[2]),
        ("step", ADDS[2]),
        (ADDS[1], ADDS[1]),
    ],
)
def test_a_function_is_chosen_by_what_people_call_it(wanted: str, symbol: str) -> None:
    assert chosen(ADDS, wanted) == symbol


def test_what_is_not_there_or_not_clear_is_listed() -> None:
    with pytest.raises(UsageError, match="2 functions are named 'add': add<float>, add<double>"):
        chosen(ADDS, "add")
    with pytest.raises(UsageError, match="no entry 'sub': add<float>, add<double>, my::step"):
        chosen(ADDS, "sub")
    with pytest.raises(UsageError, match="4 entries; choose with --entry"):
        chosen(ADDS, "")
    assert chosen(["_Z3oneEv"], "") == "_Z3oneEv"

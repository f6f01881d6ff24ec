"""The space of C kernels with the gcc of this machine, and what comes out of it."""

import platform
import random
import shutil
from functools import partial
from pathlib import Path

import pytest
from tests.helpers.host_jobs import run_twice_plus_one

from burnish.devices.host import HostDevice
from burnish.errors import KernelError, SpaceError, UsageError
from burnish.model.control import Layer, Risk
from burnish.model.kernel import Kernel
from burnish.model.toolchain import Tool, Toolchain
from burnish.model.trial import Status
from burnish.spaces.c_kernel import c_kernel
from burnish.spaces.host import HostSpace, host_space
from burnish.spaces.request import Request
from burnish.toolchain.gcc import Gcc, Object
from burnish.toolchain.gcc_options import is_tuning_option, parse
from burnish.toolchain.ptxas import Refusal

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = Path(__file__).parents[1] / "helpers" / "hostile"
TOOL = Tool("gcc", "0", Path(shutil.which("gcc") or "gcc").resolve(), "", "PATH")
EVERYTHING = Request(allow=frozenset(Risk))

only_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="options of x86-64")


@pytest.fixture
def gcc(tmp_path: Path) -> Gcc:
    return Gcc(TOOL, tmp_path / "work")


def bound(kernel: Kernel, request: Request = EVERYTHING) -> HostSpace:
    return host_space(kernel, Toolchain((TOOL,)), request)


def named(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["nbody", "matmul", "chase"])
def test_an_example_is_a_kernel(gcc: Gcc, name: str) -> None:
    kernel = c_kernel(EXAMPLES / f"{name}.c", gcc)
    assert (kernel.entry, kernel.language, kernel.options) == (name, "c", ("-O3",))
    assert kernel.key.startswith("c:")
    assert "#include" not in kernel.text


def test_the_plain_build_is_what_the_user_says(gcc: Gcc, tmp_path: Path) -> None:
    path = named(tmp_path / "k.c", "int k(void) { return SIZE; }")
    kernel = c_kernel(path, gcc, options=["-DSIZE=3", "-O2", "-g", "-lm", "-fno-gcse"])
    assert kernel.options == ("-O2", "-fno-gcse")
    assert "return 3;" in kernel.text
    assert bound(kernel).baseline.options == kernel.options


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-O2", "other.c"], "other.c: the options after --"),
        (["-flto"], "-flto"),
        (["-lblas"], "-lblas"),
        (["-O2", "-I"], "what follows --: -I needs a value after it"),
    ],
)
def test_a_plain_build_that_cannot_be_tuned_is_refused(
    gcc: Gcc, tmp_path: Path, options: list[str], words: str
) -> None:
    path = named(tmp_path / "k.c", "int k(void) { return 3; }")
    with pytest.raises(UsageError, match=words):
        c_kernel(path, gcc, options=options)


def test_the_entry_must_be_there_and_clear(gcc: Gcc, tmp_path: Path) -> None:
    path = named(tmp_path / "k.c", "int a; int f(void) { return a; } int g(void) { return 2; }")
    assert c_kernel(path, gcc, entry="g").entry == "g"
    with pytest.raises(KernelError, match=r"2 entries \(f, g\).*put the one to tune into a file"):
        c_kernel(path, gcc)
    with pytest.raises(UsageError, match="no entry 'h'; it has: f, g"):
        c_kernel(path, gcc, entry="h")
    path = named(tmp_path / "s.c", "static int f(void) { return 2; } int (*p)(void) = f;")
    with pytest.raises(KernelError, match="no entry that can be called"):
        c_kernel(path, gcc)
    with pytest.raises(UsageError, match="none that can be called"):
        c_kernel(path, gcc, entry="f")


def test_a_function_among_others_is_refused_as_its_build_is_theirs(
    gcc: Gcc, tmp_path: Path
) -> None:
    text = "static int h(int x) { return x * 3; } int f(int x) { return h(x); }"
    assert bound(c_kernel(named(tmp_path / "one.c", text), gcc), Request()).space
    both = named(tmp_path / "k.c", text + " int g(int x) { return x; }")
    with pytest.raises(KernelError) as caught:
        bound(c_kernel(both, gcc, entry="g"), Request())
    assert str(caught.value) == (
        "k.c: 2 entries (f, g), and a compiler's options hold for all of them at once: put the one "
        "to tune into a file of its own"
    )


def test_a_file_that_gcc_refuses_says_where(gcc: Gcc, tmp_path: Path) -> None:
    path = named(tmp_path / "k.c", "int k(void) { return x; }")
    with pytest.raises(KernelError, match=r"k\.c: the plain build fails: .*'x' undeclared"):
        c_kernel(path, gcc)


def test_hundreds_of_controls_and_the_usual_first(gcc: Gcc) -> None:
    space = bound(c_kernel(EXAMPLES / "nbody.c", gcc), Request()).space
    assert len(space) > 300
    names = [control.name for control in space]
    assert {"host.unroll-loops", "host.opt-level", "host.math-errno"} <= set(names[:8])
    assert not [control for control in space if control.risk_of(control.default) != Risk.EXACT]


def test_without_leave_nothing_rounds(gcc: Gcc) -> None:
    kernel = c_kernel(EXAMPLES / "nbody.c", gcc)
    space = bound(kernel, Request()).space
    assert "host.associative-math" not in space
    every = [(one, one.domain.at(number)) for one in space for number in range(one.domain.size)]
    assert all(control.risk_of(value) is Risk.EXACT for control, value in every)
    assert "host.associative-math" in bound(kernel).space


def test_other_layers_leave_nothing(gcc: Gcc) -> None:
    kernel = c_kernel(EXAMPLES / "chase.c", gcc)
    with pytest.raises(SpaceError, match="--layers host"):
        bound(kernel, Request(layers=frozenset({Layer.PTX})))


@only_x86
def test_another_processor_keeps_products_and_sums_apart(gcc: Gcc, tmp_path: Path) -> None:
    kernel = c_kernel(EXAMPLES / "matmul.c", gcc)
    space = bound(kernel)
    config = space.space.config({"host.march": "native"})
    assert space.code_of(config).options == ("-O3", "-march=native", "-ffp-contract=off")
    config = space.space.config({"host.march": "native", "host.fp-contract": "on"})
    assert space.code_of(config).options == ("-O3", "-march=native", "-ffp-contract=on")
    config = space.space.config({"host.unroll-loops": "on"})
    assert space.code_of(config).options == ("-O3", "-funroll-loops")
    # A plain build that fuses is to be kept as it is.
    path = named(tmp_path / "k.c", "double k(double x) { return x * x + x; }")
    kernel = c_kernel(path, gcc, options=["-O2", "-mfma"])
    space = bound(kernel)
    config = space.space.config({"host.march": "x86-64-v2"})
    assert space.code_of(config).options == ("-O2", "-mfma", "-march=x86-64-v2")


def test_a_level_replaces_that_of_the_plain_build(gcc: Gcc) -> None:
    space = bound(c_kernel(EXAMPLES / "chase.c", gcc))
    config = space.space.config({"host.opt-level": "2", "host.gcse": "off"})
    assert space.code_of(config).options == ("-O2", "-fno-gcse")
    assert space.known_bad.options == ("-O0",)


def test_the_default_gives_the_plain_builds_code_and_a_bad_one_other_code(gcc: Gcc) -> None:
    kernel = c_kernel(EXAMPLES / "nbody.c", gcc)
    space = bound(kernel)
    digests = [
        made.digest
        for code in (space.baseline, space.code_of(space.space.default), space.known_bad)
        if isinstance(made := gcc.compile(kernel.text, code.options), Object)
    ]
    assert digests[0] == digests[1] != digests[2]


def test_every_value_of_the_usual_controls_compiles(gcc: Gcc) -> None:
    kernel = c_kernel(HOSTILE / "good.c", gcc)
    space = bound(kernel)
    usual = [control for control in space.space if control.domain.usual > 1][:30]
    said = {
        space.code_of(space.space.config({control.name: control.domain.at(number)})).options
        for control in usual
        for number in range(control.domain.usual)
    }
    refused = {
        options: made.message
        for options in said
        if isinstance(made := gcc.compile(kernel.text, options), Refusal)
    }
    assert not refused


def test_what_a_space_says_may_stand_in_a_controls_file(gcc: Gcc) -> None:
    space = bound(c_kernel(EXAMPLES / "nbody.c", gcc))
    for control in space.space:
        for number in range(control.domain.size):
            config = space.space.config({control.name: control.domain.at(number)})
            for option in space.code_of(config).options:
                assert is_tuning_option(option), option
                assert parse([option]).options, option


@pytest.mark.slow
def test_random_exact_configs_answer_right(gcc: Gcc) -> None:
    """Thirty decisions at once, whatever they are: code that runs gives the same bits."""
    kernel = c_kernel(HOSTILE / "good.c", gcc)
    space = bound(kernel, Request())
    rng = random.Random(1)
    device = HostDevice(0)
    built = 0
    for _ in range(20):
        chosen = rng.sample(space.space.controls, 30)
        values = {one.name: one.domain.at(rng.randrange(one.domain.size)) for one in chosen}
        options = space.code_of(space.space.config(values)).options
        library = gcc.build(kernel.text, options)
        if isinstance(library, Refusal):
            assert library.status in {Status.REFUSED, Status.COMPILE_CRASH}
            continue
        built += 1
        assert run_twice_plus_one(device, library.image) == (True, True), options
    assert built > 10


@pytest.mark.parametrize("options", [["-O2", "-march=native"], ["-Os"], ["-O1", "-std=c99"], []])
def test_any_plain_build_has_a_space(gcc: Gcc, options: list[str]) -> None:
    make = partial(c_kernel, HOSTILE / "good.c", gcc)
    space = bound(make(options=options) if options else make())
    assert space.code_of(space.space.default) == space.baseline

"""PTX of real compilers: digests across builds, payloads through ptxas."""

from pathlib import Path

import pytest
from tests.helpers.toolkit import assembled, compiled

from burnish.cubin.digest import binary_digest
from burnish.errors import KernelError
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import Module, parse
from burnish.ptx.replace import apply_payload, payload, refuses

pytestmark = pytest.mark.toolchain

DATA = Path(__file__).parents[1] / "data"
ARCH = "sm_90a"
MIXED = (DATA / "mixed.cu").read_text()
SOURCE = """
namespace {
__device__ float table[4] = {1, 2, 3, 4};
__device__ __noinline__ float helper(float x) { return x * table[threadIdx.x & 3]; }
template <class T> __global__ void hidden(T* p) { p[threadIdx.x] = helper(p[threadIdx.x]); }
}
static __global__ void fixed(float* p) { p[threadIdx.x] = helper(p[1]) + 1; }
extern "C" __global__ void shown(float* p) { p[threadIdx.x] = helper(p[2]) / 3; }
void uses() { hidden<<<1, 1>>>((float*)0); fixed<<<1, 1>>>((float*)0); }
"""

NEAR = """
#include <cstdio>
__device__ int near = 1;
__global__ void k(int* p) { printf("%d", near); *p = *(int*)malloc(near); }
"""


def ptx(source: str, place: Path, *options: str) -> str:
    return compiled(source, place, f"-arch={ARCH}", *options)


def entry_with(module: Module, part: str) -> str:
    return next(entry.name for entry in module.entries if part in entry.name)


FAST = ("-use_fast_math", "-maxrregcount=64")
MORE = 'extern "C" __global__ void more(int* p) { if (*p) *p = 1; }\n' + SOURCE
CHANGED = SOURCE.replace("x * table", "x + table")
BUILDS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "here": (SOURCE, "kernels.cu", ()),
    "there": (SOURCE, "elsewhere/a_longer_name.cu", ()),
    "lines": (SOURCE, "lines/lines.cu", ("-lineinfo",)),
    "parts": (SOURCE, "kernels.cu", ("-rdc=true",)),
    "other parts": (SOURCE, "b/other.cu", ("-rdc=true",)),
    "more": (MORE, "kernels.cu", ()),
    "tuned": (SOURCE, "t/tuned.cu", FAST),
    "changed": (CHANGED, "kernels.cu", ()),
    "mixed": (MIXED, "mixed.cu", ("-lineinfo",)),
    "tuned mixed": (MIXED, "mixed.cu", ("-lineinfo", "-use_fast_math")),
}


class Sources(dict[str, str]):
    """PTX by the name of its build, made when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def __missing__(self, name: str) -> str:
        source, place, options = BUILDS[name]
        self[name] = ptx(source, self.folder / name.replace(" ", "_") / place, *options)
        return self[name]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(tmp_path_factory.mktemp("sources"))


@pytest.fixture
def here(sources: Sources) -> str:
    return sources["here"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("here", "there"), ("here", "lines"), ("here", "more"), ("parts", "other parts")],
)
@pytest.mark.parametrize("part", ["hidden", "fixed", "shown"])
def test_two_builds_of_a_source_have_one_digest(
    sources: Sources, one: str, other: str, part: str
) -> None:
    ours, theirs = parse(sources[one]), parse(sources[other])
    names = entry_with(ours, part), entry_with(theirs, part)
    assert entry_digest(ours, names[0]) == entry_digest(theirs, names[1])
    if part == "hidden" and other != "lines":
        assert names[0] != names[1]


@pytest.mark.parametrize("part", ["hidden", "fixed", "shown"])
def test_a_payload_gives_the_code_of_the_tuned_module(
    sources: Sources, tmp_path: Path, part: str
) -> None:
    """Tuned with other options in another file; built in a third one."""
    tuned, plain = sources["tuned"], parse(sources["here"])
    carried = payload(plain, parse(tuned), entry_with(plain, part))
    assert "kernels_cu" not in carried
    assert "tuned_cu" not in carried
    third = sources["there"]
    name = entry_with(parse(third), part)
    result = apply_payload(third, carried, name)
    assert _binary(result, name, tmp_path) == _binary(
        tuned, entry_with(parse(tuned), part), tmp_path
    )
    others = [entry.name for entry in parse(third).entries if entry.name != name]
    for other in others:
        assert _binary(result, other, tmp_path) == _binary(third, other, tmp_path)


def test_every_entry_of_a_module_can_be_replaced_at_once(sources: Sources, tmp_path: Path) -> None:
    plain, tuned = sources["here"], sources["tuned"]
    names = {part: entry_with(parse(plain), part) for part in ("hidden", "fixed", "shown")}
    result = plain
    for name in names.values():
        result = apply_payload(result, payload(parse(plain), parse(tuned), name), name)
    for part, name in names.items():
        there = entry_with(parse(tuned), part)
        assert _binary(result, name, tmp_path) == _binary(tuned, there, tmp_path)


def test_a_function_that_the_tuned_module_changed_travels_along(
    sources: Sources, here: str, tmp_path: Path
) -> None:
    tuned, plain = sources["changed"], parse(here)
    carried = payload(plain, parse(tuned), "shown")
    assert "$burnish_" in carried
    result = apply_payload(here, carried, "shown")
    assert _binary(result, "shown", tmp_path) == _binary(tuned, "shown", tmp_path)
    name = entry_with(plain, "hidden")
    assert _binary(result, name, tmp_path) == _binary(here, name, tmp_path)


def test_memory_that_changed_its_declaration_is_refused(here: str, tmp_path: Path) -> None:
    changed = SOURCE.replace("table[4]", "table[8]")
    with pytest.raises(KernelError, match="table"):
        payload(parse(here), parse(ptx(changed, tmp_path / "kernels.cu")), "shown")


def test_a_table_of_functions_is_not_split_in_two(sources: Sources) -> None:
    """The host, or another kernel, may have written to it."""
    plain, tuned = parse(sources["mixed"]), parse(sources["tuned mixed"])
    with pytest.raises(KernelError, match="functions would stand for functions"):
        payload(plain, tuned, "_Z7choosesPfi")


@pytest.mark.parametrize("name", ["_Z7stacked7OptionsPf", "_Z5talksPfi", "_Z8reversedPf"])
def test_debug_lines_of_a_replaced_entry_do_not_break_the_build(
    sources: Sources, name: str, tmp_path: Path
) -> None:
    plain, tuned = sources["mixed"], sources["tuned mixed"]
    result = apply_payload(plain, payload(parse(plain), parse(tuned), name), name)
    built = assembled(result, ARCH, tmp_path, "--generate-line-info")
    assert binary_digest(built, name) == _binary(tuned, name, tmp_path)


def test_an_entry_of_triton_is_replaced_with_its_debug_data(tmp_path: Path) -> None:
    """Triton's debug sections name labels in the entry that goes."""
    plain = (DATA / "triton_softmax.ptx").read_text()
    tuned = plain.replace("ld.global.b32", "ld.global.L1::no_allocate.b32")
    assert tuned != plain
    result = apply_payload(plain, payload(parse(plain), parse(tuned), "softmax"), "softmax")
    built = assembled(result, ARCH, tmp_path, "--generate-line-info")
    assert binary_digest(built, "softmax") == _binary(tuned, "softmax", tmp_path)
    assert _binary(tuned, "softmax", tmp_path) != _binary(plain, "softmax", tmp_path)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            "extern __device__ int far(int); __global__ void k(int* p) { *p = far(*p); }",
            "it calls the device function _Z3fari, which is in another file",
        ),
        (
            "extern __device__ int far; __global__ void k(int* p) { *p = far; }",
            "it uses the device variable far, which is in another file",
        ),
        (
            NEAR,
            None,
        ),
    ],
)
def test_device_code_from_elsewhere_is_refused(
    source: str, reason: str | None, tmp_path: Path
) -> None:
    assert refuses(parse(ptx(source, tmp_path / "k.cu", "-rdc=true"))) == reason


def _binary(text: str, entry: str, folder: Path) -> str:
    return binary_digest(assembled(text, ARCH, folder), entry)

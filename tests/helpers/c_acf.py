"""Controls files for C kernels without a search: options in, blocks out."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from burnish.acf.model import Acf, Evidence, Tuned, TunedCode
from burnish.acf.write import save
from burnish.model.toolchain import Tool
from burnish.model.verdict import Outcome
from burnish.settings import load
from burnish.spaces.c_kernel import c_kernel
from burnish.toolchain.discover import find_one
from burnish.toolchain.gcc import Gcc, Object

__all__ = ["FASTER", "NBODY", "PROGRAM", "block", "gcc", "launch", "write"]

NBODY = Path(__file__).parents[2] / "examples" / "nbody.c"
# sqrtf without a call for the sake of errno: the same bits, and what is vectorised is faster.
FASTER = ("-O3", "-fno-math-errno")
PROGRAM = """\
#include <stdio.h>
enum { N = 64 };
static float v[7][N];
void nbody(const float *x, const float *y, const float *z, const float *mass, float *ax,
           float *ay, float *az, int bodies);
int main(void) {
    for (int i = 0; i < N; i++) {
        v[0][i] = i; v[1][i] = i * 0.5f; v[2][i] = N - i; v[3][i] = 1 + i % 3;
    }
    nbody(v[0], v[1], v[2], v[3], v[4], v[5], v[6], N);
    for (int i = 0; i < N; i += 21) printf("%a %a %a\\n", v[4][i], v[5][i], v[6][i]);
}
"""
_BUFFERS = "".join(
    f'  {{ name = "{name}", buffer = "f32", shape = [SIZE], {what} }},\n'
    for name, what in [
        *((name, 'fill = "uniform(0.1, 1.0)"') for name in ("x", "y", "z", "mass")),
        *((name, 'role = "out"') for name in ("ax", "ay", "az")),
    ]
)
_WORKLOAD = f"""
[[workload]]
name = "SIZE"
held_out = HELD
arguments = [
{_BUFFERS}  {{ name = "bodies", scalar = "i32", value = SIZE }},
]
"""


def launch(path: Path, size: int, held_out: int) -> Path:
    """Write a launch file for few bodies, so that tests are short."""
    workloads = [
        _WORKLOAD.replace("SIZE", str(bodies)).replace("HELD", str(bodies == held_out).lower())
        for bodies in (size, held_out)
    ]
    path.write_text("".join(['entry = "nbody"\n', *workloads]))
    return path


def gcc() -> Tool:
    """The gcc that the command line finds."""
    found = find_one(load(), "gcc")
    assert found is not None
    return found


def block(
    source: Path, options: Sequence[str], *, plain: Sequence[str] = ("-O3",), entry: str = ""
) -> Tuned:
    """A block by which a kernel is built with other options."""
    tool = gcc()
    with TemporaryDirectory() as folder:
        ready = Gcc(tool, Path(folder))
        kernel = c_kernel(source, ready, entry=entry, options=plain)
        made = ready.compile(kernel.text, options)
    assert isinstance(made, Object), made
    return Tuned(
        kernel.key,
        kernel.entry,
        kernel.arch,
        tool.name,
        kernel.options,
        TunedCode(tool.name, tuple(options), made.digest),
        evidence=Evidence(Outcome.BETTER, "runtime", 2.0, 1.0),
    )


def write(path: Path, *blocks: Tuned, strict: bool = False) -> Path:
    """Write a controls file."""
    save(Acf(blocks, strict), path)
    return path

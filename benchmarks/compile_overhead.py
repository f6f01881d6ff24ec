"""What assembling through Burnish costs over bare ptxas: the same compiles, turn by turn.

    python benchmarks/compile_overhead.py [COMPILES] [THREADS]

Prints medians of one compile, and the time of all compiles from a pool of threads. Blocks of
both kinds alternate, so that a busy machine is busy for both.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.settings import load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import run
from burnish.toolchain.ptxas import Assembled, assemble

LOADS = 60
PTX = "\n".join(
    [
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry wide(.param .u64 p) {",
        ".reg .b64 %rd<3>; .reg .f32 %f<200>;",
        "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;",
        *(f"ld.volatile.global.f32 %f{i}, [%rd2+{4 * i}];" for i in range(LOADS)),
        *(f"st.volatile.global.f32 [%rd2+{4 * i}], %f{i};" for i in range(LOADS)),
        "ret; }",
    ]
)
BLOCK = 50


Act = Callable[[int], object]
Times = dict[str, list[float]]


def main(compiles: int = 500, threads: int = 2) -> None:
    """Measure and print."""
    tool = find_one(load(), "ptxas")
    if tool is None:
        sys.exit("no ptxas found; see burnish doctor")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernel.ptx").write_text(PTX)
        acts: dict[str, Act] = {
            "bare": partial(_bare, tool, folder),
            "burnish": partial(_ours, tool, folder),
        }
        pooled_s = _pooled(acts, compiles, threads)
        single_ms = _turns(acts, 2 * BLOCK)
    idle: dict[str, Act] = {
        "popen": lambda _number: _popen(["/bin/true"]),
        "run": lambda _number: run(["/bin/true"]),
    }
    start_ms = _turns(idle, 4 * BLOCK)
    pairs = zip(pooled_s["burnish"], pooled_s["bare"], strict=True)
    figures = {
        "compiles": compiles,
        "threads": threads,
        "seconds": {kind: round(sum(values), 2) for kind, values in pooled_s.items()},
        "ratio": round(statistics.median(ours / bare for ours, bare in pairs), 3),
        "compile_ms": _medians(single_ms),
        "start_ms": _medians(start_ms),
    }
    print(json.dumps(figures, indent=2))


def _pooled(acts: dict[str, Act], compiles: int, threads: int) -> Times:
    """Seconds of each block of compiles."""
    taken: Times = {kind: [] for kind in acts}
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, compiles, BLOCK):
            for kind, act in acts.items():
                begun = time.perf_counter()
                list(pool.map(act, range(start, start + BLOCK)))
                taken[kind].append(time.perf_counter() - begun)
    return taken


def _turns(acts: dict[str, Act], turns: int) -> Times:
    """Milliseconds of each act, one at a time, in turns."""
    taken: Times = {kind: [] for kind in acts}
    for number in range(turns):
        for kind, act in acts.items():
            begun = time.perf_counter()
            act(number)
            taken[kind].append((time.perf_counter() - begun) * 1e3)
    return taken


def _medians(times: Times) -> dict[str, float]:
    return {kind: round(statistics.median(values), 3) for kind, values in times.items()}


def _ours(tool: Tool, folder: Path, number: int) -> None:
    code = Code(tool.name, (f"--maxrregcount={24 + number % 200}",))
    assert isinstance(assemble(tool, PTX, code, "sm_90", folder=folder), Assembled)


def _bare(tool: Tool, folder: Path, number: int) -> None:
    argv = [str(tool.path), "-arch=sm_90", f"-maxrregcount={24 + number % 200}", "-v"]
    _popen([*argv, "-o", str(folder / f"bare-{number}.cubin"), str(folder / "kernel.ptx")])


def _popen(argv: list[str]) -> None:
    subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

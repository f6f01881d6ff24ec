"""Null studies on a card: do they accept what is the plain build itself?

    python -m benchmarks.card_studies --kernels DIR [--null 40] [--results FILE]

Each study puts 100 candidates that are the plain build through the whole funnel, as
`benchmarks.host_studies` does on a processor: cold caches, on the row softmax and the layer norm of
examples/kernels in turn, on inputs that are small enough for a launch of some 20 µs. None of 40
may be accepted.
"""

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.cards import EXAMPLES, made, write
from benchmarks.host_studies import CANDIDATES, Row, Shelf, row, study

from burnish.bundle.launch import read_launch
from burnish.devices.cuda import open_cuda
from burnish.model.code import Code
from burnish.model.verdict import Outcome
from burnish.model.workload import Buffer, Workload
from burnish.settings import load
from burnish.toolchain.discover import find_one
from burnish.toolchain.ptxas import Refusal, assemble

ARCH = "sm_90a"
KERNELS = ("softmax", "layer_norm")
ROWS = 1024


def main() -> int:
    """Run the studies; 1 where one of them accepts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--null", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, required=True)
    said = parser.parse_args()
    rows: list[Row] = []
    images = {name: cubin(said.kernels / f"{name}.ptx") for name in KERNELS}
    for number in range(said.null):
        name = KERNELS[number % len(KERNELS)]
        rows.append(null_study(name, images[name], said.seed + number))
        last = rows[-1]
        print(name, last["wall_s"], last["verdict"], last["ratio"], last["interval"], flush=True)
        write(said.results, {"about": made(said), "studies": rows})
    accepted = sum(one["verdict"] == Outcome.BETTER.value for one in rows)
    print(f"{accepted} of {len(rows)} null studies accepted a candidate")
    return int(accepted > 0)


def cubin(file: Path) -> bytes:
    """The plain build of a PTX file."""
    tool = find_one(load(), "ptxas")
    assert tool is not None, "no ptxas was found"
    with tempfile.TemporaryDirectory() as folder:
        code = Code(tool.name, ())
        made = assemble(tool, file.read_text(), code, ARCH, folder=Path(folder))
    assert not isinstance(made, Refusal), made
    return made.cubin


def null_study(name: str, image: bytes, seed: int) -> Row:
    """Put the plain build through the funnel under many names."""
    shelf = Shelf({f"same {n}": image for n in range(CANDIDATES + 1)}, name, ARCH)
    started = time.perf_counter()
    result = study(shelf, [small(name)], seed, open_device=partial(open_cuda, 0))
    return row(f"null {name}", seed, result, time.perf_counter() - started) | {
        "seconds": dict(result.seconds)
    }


def small(name: str) -> Workload:
    """The first workload of an example with few rows."""
    first = read_launch(EXAMPLES / f"{name}.toml").workloads[0]
    arguments = tuple(
        replace(one, shape=(ROWS, *one.shape[1:]))
        if isinstance(one, Buffer) and len(one.shape) > 1
        else one
        for one in first.arguments
    )
    grid = (ROWS, *first.grid[1:])
    return replace(
        first,
        name=f"{ROWS} rows",
        grid=grid,
        arguments=arguments,
        moved_bytes=None,
        operations=None,
    )


if __name__ == "__main__":
    sys.exit(main())

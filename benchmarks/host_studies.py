"""Whole studies on this machine's processor: do they find what is there, and nothing else?

    python benchmarks/host_studies.py [--null 200] [--nothing 10] [--wins 1] [--budget 25]

Null studies put 100 candidates that are the plain build itself through the whole funnel; a study
that accepts one of them is wrong. At most 1 of 200 may be. `chase` is a kernel on which nothing
can be gained: each study must end with "no win". `nbody` and `matmul` have something to find:
each study must end with a confirmed BETTER. The data go to benchmarks/results/host.json.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from burnish import __version__
from burnish.bundle.launch import LaunchFile
from burnish.devices.host import open_host
from burnish.devices.port import Device
from burnish.evaluate.compiled import Compiled
from burnish.model.binary import Binary, Facts
from burnish.model.code import Code
from burnish.model.control import Choice, Control, Layer, Risk
from burnish.model.kernel import Kernel
from burnish.model.result import Result
from burnish.model.space import Config, Space
from burnish.model.toolchain import Toolchain
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome
from burnish.model.workload import Buffer, Role, Scalar, Workload
from burnish.store.store import open_store
from burnish.tuning.bench import bench_of
from burnish.tuning.device import choose_device
from burnish.tuning.prepare import Measured
from burnish.tuning.study import begin
from burnish.tuning.task import Task
from burnish.tuning.tune import Run, tune

EXAMPLES = Path(__file__).parents[1] / "examples"
RESULTS = Path(__file__).parent / "results" / "host.json"
WHICH = "candidate"
CANDIDATES = 100
MOST_ACCEPTED_SHARE = 1 / 200
MOST_S = 60.0  # a study of an example, on two cores of its own
BODIES = 96  # some 80 µs

Row = dict[str, object]


@dataclass(frozen=True)
class Shelf:
    """A space of binaries that are there already: its only control says which.

    Implements `burnish.spaces.bound.BoundSpace` and `burnish.evaluate.compiled.Compiler`. Each
    candidate has a digest of its own, whatever its bytes are, so that none is a duplicate.

    Attributes:
        images: Shared libraries by name; the first one is the plain build.
        entry: The function to run.
        arch: What it runs on: this machine's processor, or a card.
    """

    images: dict[str, bytes]
    entry: str
    arch: str = platform.machine()
    toolchain: Toolchain = field(default_factory=Toolchain)

    @property
    def bound(self) -> "Shelf":
        """Where the configs come from."""
        return self

    @property
    def kernel(self) -> Kernel:
        """What is tuned."""
        return Kernel("shelf", "c", "", self.entry, self.arch, (), "c:shelf")

    @property
    def space(self) -> Space:
        """Which one."""
        names = tuple(self.images)
        text = "Which binary it is."
        return Space(
            (Control(WHICH, Layer.USER, Choice(names), names[0], Risk.EXACT, text, "here"),)
        )

    @property
    def known_bad(self) -> Code:
        """A build that differs from the plain one."""
        return Code("shelf", ("none",))

    def code_of(self, config: Config) -> Code:
        """What the compiler is told for a config."""
        return Code("shelf", (str(config[WHICH]),))

    def within(self, wall_s: float) -> "Shelf":
        """The same; nothing is built."""
        del wall_s
        return self

    def compile(self, config: Config) -> Compiled:
        """Take a binary off the shelf."""
        return self.build(config, self.code_of(config))

    def build(self, config: Config, code: Code) -> Compiled:
        """Take the binary that a code names."""
        (name,) = code.options
        binary = Binary(name, Facts(0, 0, 0, 0, 0, 0), self.images[name])
        return Compiled(config, Status.OK, binary)


def study(
    shelf: Shelf,
    workloads: Sequence[Workload],
    seed: int = 0,
    observe: Callable[[Trial], None] = lambda _trial: None,
    open_device: Callable[[], Device] = open_host,
) -> Result:
    """Run a whole study over everything on a shelf, as `tune` does."""
    is_host = shelf.arch == platform.machine()
    task = Task(
        kernel=Path("shelf.c" if is_host else "shelf.ptx"),
        evaluations=len(shelf.images),
        seed=seed,
    )
    device = replace(choose_device(task), open=open_device)
    task = replace(task, device=device.kind, regime=device.regime)
    launch = LaunchFile(shelf.entry, tuple(workloads), "")
    plain = shelf.compile(shelf.space.default)
    assert plain.binary is not None
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="burnish-"))
        store = stack.enter_context(open_store(f"sqlite:///{folder}/studies.sqlite"))
        name, recorded = begin(task, shelf, Measured(device, launch), store)
        bench = stack.enter_context(
            bench_of(task, device, plain.binary, shelf.entry, launch.workloads)
        )
        return Run(task, shelf, plain, store, name, observe).measured(recorded, bench)


def library(text: str, *options: str) -> bytes:
    """Compile C text."""
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        out = Path(folder, "k.so")
        argv = ["gcc", *options, "-shared", "-fPIC", "-x", "c", "-", "-o", str(out), "-lm"]
        subprocess.run(argv, input=text, text=True, check=True, capture_output=True)
        return out.read_bytes()


def null_workload() -> Workload:
    """A short one of nbody.c."""
    given = [Buffer(name, "f32", (BODIES,), fill="normal") for name in "xyz"]
    made = [Buffer(f"a{name}", "f32", (BODIES,), Role.OUT) for name in "xyz"]
    mass = Buffer("mass", "f32", (BODIES,), fill="uniform(0.1, 1.0)")
    return Workload("short", (*given, mass, *made, Scalar("bodies", "i32", BODIES)))


def null_study(seed: int, candidates: int = CANDIDATES) -> Row:
    """Put the plain build through the funnel under many names."""
    image = library((EXAMPLES / "nbody.c").read_text(), "-O3")
    shelf = Shelf({f"same {n}": image for n in range(candidates + 1)}, "nbody")
    started = time.perf_counter()
    result = study(shelf, [null_workload()], seed)
    return row("null", seed, result, time.perf_counter() - started)


def example_study(name: str, seed: int, budget_s: float) -> Row:
    """Tune an example, as `burnish tune` does."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        task = Task(
            kernel=EXAMPLES / f"{name}.c",
            launch=EXAMPLES / f"{name}.toml",
            wall_s=budget_s,
            seed=seed,
            store=f"sqlite:///{folder}/studies.sqlite",
        )
        result, _ = tune(task)
    return row(name, seed, result, time.perf_counter() - started)


def row(kind: str, seed: int, result: Result, wall_s: float) -> Row:
    """What is kept of a study."""
    counts = result.counts
    return {
        "study": kind,
        "seed": seed,
        "verdict": result.outcome.value,
        "wall_s": round(wall_s, 2),
        "distinct": counts.distinct,
        "screened": counts.screened,
        "confirmed": counts.confirmed,
        "failed": dict(counts.failed),
        "rounds": max((winner.rounds for winner in result.winners), default=0),
        "ratio": [_short(winner.verdict.ratio) for winner in result.winners],
        "interval": [[*map(_short, winner.verdict.interval or ())] for winner in result.winners],
        "resolution": [*map(_short, result.resolution or ())],
        "reason": [winner.verdict.reason for winner in result.winners],
        "controls": [dict(winner.controls) for winner in result.winners],
        "remarks": list(result.remarks),
    }


def _short(figure: float | None) -> float | None:
    return None if figure is None else round(figure, 5)


def about(said: argparse.Namespace) -> Row:
    """Machine, date and versions."""
    argv = ["gcc", "--version"]
    gcc = subprocess.run(argv, capture_output=True, text=True, check=True)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "arguments": {
            name: value for name, value in vars(said).items() if not isinstance(value, Path)
        },
        "machine": choose_device(Task(kernel=Path("any.c"))).name,
        "cores": len(os.sched_getaffinity(0)),
        "load": [round(one, 2) for one in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        "gcc": gcc.stdout.splitlines()[0],
        "burnish": __version__,
    }


def asked() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--null", type=int, default=200, help="null studies")
    parser.add_argument("--nothing", type=int, default=10, help="studies of chase.c")
    parser.add_argument("--wins", type=int, default=1, help="studies of nbody.c, and of matmul.c")
    parser.add_argument("--budget", type=float, default=25.0, help="seconds of an example's search")
    parser.add_argument("--seed", type=int, default=0, help="of the first study of each kind")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser.parse_args()


def studies(said: argparse.Namespace) -> Iterable[Row]:
    """Run what was asked for."""
    for name, times in (("nbody", said.wins), ("matmul", said.wins), ("chase", said.nothing)):
        for number in range(times):
            yield example_study(name, said.seed + number, said.budget)
    for number in range(said.null):
        yield null_study(said.seed + number)


def faults(rows: Sequence[Row]) -> list[str]:
    """What does not hold."""
    better = Outcome.BETTER.value
    said = [
        f"{row['study']}, seed {row['seed']}: {row['verdict']} {row['reason']}"
        for row in rows
        if row["study"] != "null" and (row["verdict"] == better) != (row["study"] != "chase")
    ]
    said += [
        f"{row['study']}, seed {row['seed']}: {row['wall_s']} s"
        for row in rows
        if float(str(row["wall_s"])) > MOST_S
    ]
    null = [row for row in rows if row["study"] == "null"]
    accepted = sum(row["verdict"] == better for row in null)
    if accepted > max(1, MOST_ACCEPTED_SHARE * len(null)):
        said.append(f"{accepted} of {len(null)} null studies accepted a candidate")
    return said


def main() -> int:
    """Run the studies; returns the exit code."""
    said = asked()
    head = about(said)
    rows: list[Row] = []
    for one in studies(said):
        rows.append(one)
        print(
            f"{one['study']:<7}{one['seed']:>4}  {one['wall_s']:>6} s  {one['verdict']:<7}"
            f"{one['ratio']} {one['interval']}",
            flush=True,
        )
        said.results.parent.mkdir(parents=True, exist_ok=True)
        body = {"about": head, "studies": rows}
        said.results.write_text(json.dumps(body, indent=1) + "\n")
    wrong = faults(rows)
    for fault in wrong:
        print(f"does not hold: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

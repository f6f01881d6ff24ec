"""All benchmarks with their checks: what `make bench` runs.

    python benchmarks/run.py [--only shim,host] [--quick] [--list]

Each one runs in a process of its own, one after the other. Its figures and what it printed go to
benchmarks/results/. One that cannot run here (no ptxas, no card) is skipped. The exit code is 1
where a check fails.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from burnish import __version__
from burnish.settings import load
from burnish.toolchain.discover import find_one

HERE = Path(__file__).parent
RESULTS = HERE / "results"
FAILED, PASSED, SKIPPED = "FAILED", "ok", "skipped"


def anywhere() -> str:
    """Nothing is needed."""
    return ""


def with_ptxas() -> str:
    """Why a benchmark of ptxas cannot run here; empty where it can."""
    return "" if find_one(load(), "ptxas") else "no ptxas"


def with_card() -> str:
    """Why a benchmark of a card cannot run here; empty where it can."""
    from burnish.devices.cuda import card_names
    from burnish.errors import BurnishError

    try:
        found = card_names()
    except BurnishError as error:
        return str(error)
    if not found:
        return "no card"
    kernels = HERE.parent / "build" / "gpu" / "kernels"
    return "" if kernels.is_dir() else f"no {kernels} (scripts/carry.py makes it)"


@dataclass(frozen=True)
class Benchmark:
    """A script with what it is given.

    Attributes:
        name: What ``--only`` calls it.
        script: Its file, and what it is given.
        quick: What it is given instead with ``--quick``.
        obstacle: Says why it cannot run here.
        results: Whether it writes its figures itself, where ``--results`` says.
    """

    name: str
    script: tuple[str, ...]
    quick: tuple[str, ...]
    obstacle: Callable[[], str] = anywhere
    results: bool = False


BENCHMARKS = (
    Benchmark("compile", ("compile_overhead.py",), ("compile_overhead.py", "100"), with_ptxas),
    Benchmark(
        "shim",
        ("shim.py", "--assert"),
        ("shim.py", "--rounds", "15"),
        with_ptxas,
    ),
    Benchmark("rewrites", ("rewrites.py", "--assert", "--profile"), ("rewrites.py", "21")),
    Benchmark("inputs", ("inputs.py",), ("inputs.py", "64")),
    Benchmark(
        "simulated",
        ("null_studies.py", "--simulated", "10000", "--planted", "1000", "--boundary", "1000"),
        ("null_studies.py", "--simulated", "200", "--planted", "100"),
        results=True,
    ),
    Benchmark(
        "host",
        ("host_studies.py",),
        ("host_studies.py", "--null", "2", "--nothing", "1"),
        results=True,
    ),
    Benchmark(
        "cards",
        ("cards.py", "--kernels", "build/gpu/kernels"),
        ("cards.py", "--kernels", "build/gpu/kernels", "--only", "stencil", "--evaluations", "40"),
        with_card,
        results=True,
    ),
)


def run(one: Benchmark, folder: Path, *, quick: bool) -> tuple[str, float]:
    """Run one; returns how it ended and how long it took."""
    reason = one.obstacle()
    if reason:
        print(f"{one.name}: skipped: {reason}", flush=True)
        return SKIPPED, 0.0
    script, *rest = one.quick if quick else one.script
    argv = [sys.executable, str(HERE / script), *rest]
    if one.results:
        argv += ["--results", str(folder / f"{one.name}.json")]
    print(f"{one.name}: {script} {' '.join(rest)}", flush=True)
    started = time.perf_counter()
    lines = []
    with subprocess.Popen(
        argv, cwd=HERE.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            print(f"    {line}", end="", flush=True)
            lines.append(line.rstrip("\n"))
    took_s = time.perf_counter() - started
    keep(folder / f"{one.name}.run.json", [script, *rest], (child.returncode, took_s), lines)
    return (FAILED if child.returncode else PASSED), took_s


def keep(file: Path, argv: list[str], ended: tuple[int, float], lines: list[str]) -> None:
    """Write what a benchmark printed, where and when."""
    code, took_s = ended
    said = {
        "command": argv,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "burnish": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
        "exit_code": code,
        "wall_s": round(took_s, 1),
        "printed": lines,
    }
    file.write_text(json.dumps(said, indent=1) + "\n")


def main() -> int:
    """Run what was asked for; returns the exit code."""
    names = [one.name for one in BENCHMARKS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help=f"some of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, for a look")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder for the data")
    said = parser.parse_args()
    wanted = said.only.split(",") if said.only else names
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]!r}; known: {', '.join(names)}")
    if said.list:
        print("\n".join(f"{one.name:<10} {' '.join(one.script)}" for one in BENCHMARKS))
        return 0
    said.results.mkdir(parents=True, exist_ok=True)
    ended = {
        one.name: run(one, said.results.resolve(), quick=said.quick)
        for one in BENCHMARKS
        if one.name in wanted
    }
    print()
    for name, (how, took_s) in ended.items():
        print(f"{name:<10} {how:<8} {took_s:>8.1f} s")
    return int(any(how == FAILED for how, _ in ended.values()))


if __name__ == "__main__":
    sys.exit(main())

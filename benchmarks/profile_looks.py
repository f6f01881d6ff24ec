"""Where the time of a look at a candidate goes, on a card.

    python -m benchmarks.profile_looks --kernels DIR [--only softmax] [--looks 40]

A look is what a worker does with every distinct binary: load, check, screen. Here it runs in this
process, under a profiler; the candidate is the plain build itself.
"""

import argparse
import cProfile
import pstats
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.card_studies import cubin
from benchmarks.cards import EXAMPLES

from burnish.bundle.launch import read_launch
from burnish.devices.cuda import open_cuda
from burnish.devices.port import Regime
from burnish.evaluate.lane import Lane, LaneSetup, Look, Plain
from burnish.measure.race import Screening
from burnish.measure.sitting import Contender
from burnish.model.control import Risk

SHOWN = 45


def main() -> int:
    """Profile looks at one kernel after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--only", default="softmax")
    parser.add_argument("--looks", type=int, default=40)
    said = parser.parse_args()
    for name in said.only.split(","):
        profile(said.kernels / f"{name}.ptx", said.looks)
    return 0


def profile(file: Path, looks: int) -> None:
    """Profile looks at one kernel."""
    launch = read_launch(EXAMPLES / f"{file.stem}.toml")
    contender = Contender(cubin(file), launch.entry)
    setup = LaneSetup(
        open_device=partial(open_cuda, 0),
        baseline=contender,
        workloads=launch.workloads,
        regime=Regime.COLD,
        seed=0,
    )
    started = time.perf_counter()
    lane = Lane(setup)
    scale = Plain()(lane)
    setting_up_s = time.perf_counter() - started
    print(f"{file.stem}: set up in {setting_up_s:.2f} s; {dict(scale.times_us)} us")
    weights = np.full(len(scale.calls), 1 / len(scale.calls))
    look = Look(contender, Risk.EXACT, scale.calls, weights, Screening(), (0, 0))
    look(lane)
    seen = [look(lane).seconds for _ in range(looks)]
    means_ms = {stage: round(sum(one[stage] for one in seen) / looks * 1e3, 2) for stage in seen[0]}
    print(f"{file.stem}: a look takes {sum(means_ms.values()):.2f} ms: {means_ms}")
    profiler = cProfile.Profile()
    profiler.runcall(lambda: [look(lane) for _ in range(looks)])
    pstats.Stats(profiler, stream=sys.stdout).sort_stats("cumulative").print_stats(SHOWN)


if __name__ == "__main__":
    sys.exit(main())

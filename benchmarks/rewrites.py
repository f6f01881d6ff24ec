"""How long it takes to rewrite, check and print a kernel of 2,000 instructions.

    python benchmarks/rewrites.py [ROUNDS] [--assert] [--profile]

The kernel is attention of the examples, parsed once. Every mode orders all blocks, with and
without window and chance; then come configs where every control has a random value, rewritten
alone and rewritten and checked. Medians in milliseconds; with ``--assert``, those that the whole
must keep to. ``--profile`` shows where a random config's time goes.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random

from burnish.model.control import Control, Value
from burnish.ptx.body import Body, parse_body, tidied
from burnish.ptx.checking.checker import Checker
from burnish.ptx.instruction import Instruction
from burnish.ptx.module import parse
from burnish.ptx.rewrites.catalogue import controls, rewrite
from burnish.ptx.rewrites.noncoherent import requires
from burnish.ptx.rewrites.schedules import MODES, SOURCE

KERNEL = Path(__file__).parents[1] / "examples" / "kernels" / "attention.ptx"
INSTRUCTIONS = 2000
WHOLE = "random, with check"
REWRITE_MS = 12.0
WHOLE_MS = 20.0


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rounds", type=int, nargs="?", default=101)
    parser.add_argument("--assert", dest="holds", action="store_true", help="keep to the bounds")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    said = parser.parse_args()
    module = parse(KERNEL.read_text())
    (entry,) = module.entries
    started = time.perf_counter()
    body = parse_body(tidied(entry), module)
    parsed = time.perf_counter()
    found = controls(body)
    prepared = time.perf_counter()
    everything = {"ptx.loads.noncoherent": True}
    checker = Checker(
        body.text, ptx_version=body.version, may_noncoherent=requires(body, everything)
    )
    ready = time.perf_counter()
    configs = [_config(found, seed) for seed in range(said.rounds)]
    acts: dict[str, Callable[[int], object]] = {
        way: partial(_rewrite_as, body, config) for way, config in _schedules().items()
    }
    acts["random"] = lambda number: rewrite(body, configs[number])
    acts[WHOLE] = lambda number: checker.check(rewrite(body, configs[number]))
    taken_ms = _medians_ms(acts, said.rounds)
    count = sum(isinstance(one, Instruction) for one in body.statements)
    scaled_ms = {name: taken * INSTRUCTIONS / count for name, taken in taken_ms.items()}
    figures = {
        "statements": len(body.statements),
        "controls": len(found),
        "once_ms": {
            "parse": _ms(parsed - started),
            "find controls": _ms(prepared - parsed),
            "read plain for checks": _ms(ready - prepared),
        },
        f"ms_of_{INSTRUCTIONS}_instructions": {
            name: round(taken, 2) for name, taken in scaled_ms.items()
        },
    }
    print(json.dumps(figures, indent=2))
    if said.profile:
        _profile(body, checker, configs)
    whole_ms = scaled_ms.pop(WHOLE)
    kept = max(scaled_ms.values()) <= REWRITE_MS and whole_ms <= WHOLE_MS
    return int(said.holds and not kept)


def _rewrite_as(body: Body, config: Mapping[str, Value], _number: int) -> str:
    return rewrite(body, config)


def _schedules() -> dict[str, Mapping[str, Value]]:
    """One config for each way to order a whole kernel."""
    ways = [
        f"{mode}/{window}/{seed}"
        for mode in MODES
        for window, seed in ((0, 0), (16, 0), (0, 7), (16, 7))
        if seed or mode != SOURCE
    ]
    return {way: {"ptx.schedule": way} for way in ways}


def _config(found: Sequence[Control], seed: int) -> dict[str, Value]:
    """A random value for every control."""
    rng = Random(seed)
    return {
        control.name: control.domain.at(rng.randrange(control.domain.size)) for control in found
    }


def _medians_ms(acts: Mapping[str, Callable[[int], object]], rounds: int) -> dict[str, float]:
    """The median of each act; they take turns, so that a busy machine is busy for all."""
    taken: dict[str, list[float]] = {name: [] for name in acts}
    for number in range(rounds):
        for name, act in acts.items():
            started = time.perf_counter()
            act(number)
            taken[name].append((time.perf_counter() - started) * 1e3)
    return {name: statistics.median(values) for name, values in taken.items()}


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 1)


def _profile(body: Body, checker: Checker, configs: list[dict[str, Value]]) -> None:
    profile = cProfile.Profile()
    profile.enable()
    for config in configs:
        checker.check(rewrite(body, config))
    profile.disable()
    pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    sys.exit(main())

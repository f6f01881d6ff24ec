"""Does the rule keep its word? Studies in which there is nothing to find, or just one thing.

    python benchmarks/null_studies.py --simulated 10000     # equal candidates, simulated times
    python benchmarks/null_studies.py --planted 1000        # one of them is 1 % faster
    python benchmarks/null_studies.py --boundary 1000       # all are just as good as is demanded
    python benchmarks/null_studies.py --coverage 1000       # how often intervals hold the truth

A study is the whole funnel over 128 candidates: screen, race, confirm, judge. Every study has its
own seed, and the noise takes turns. The exit code is 1 where a bar is missed. The same on real
times: benchmarks/host_studies.py.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from math import log
from multiprocessing import get_context
from os import sched_getaffinity
from pathlib import Path
from typing import TypeVar

import numpy as np

from burnish.measure.compared import compare
from burnish.measure.evidence import COPY, FIRST
from burnish.measure.simulate import Noise, simulated_evidence, simulated_study
from burnish.measure.stats import quantile
from burnish.measure.verdict import RULE, judge

T = TypeVar("T")
Job = tuple[str, int]  # a kind of noise and a seed
CANDIDATES = 128
PLANTED = 77
MOST_ACCEPTED = 1 / 200
LEAST_FOUND = 0.9
KINDS = {
    "usual": Noise(),
    "white": Noise(slow_share=0, placement_share=0, outlier_probability=0, drift_share=0),
    "half slow": Noise(slow_share=0.5),
    "all slow": Noise(slow_share=1, memory=0.6),
    "drift": Noise(drift_share=0.01),
    "outliers": Noise(outlier_probability=0.1, outlier_share=1.0),
    "placement": Noise(placement_share=0.003),
    "only placement": Noise(paired_share=0.001, placement_share=0.003),
    "noisy": Noise(paired_share=0.05),
}
FOUND_IN = ("usual", "white", "half slow", "drift")  # where 1 % is demanded to be found


def null_study(job: Job) -> tuple[str, bool]:
    """Run a study of equal candidates: whether one was accepted."""
    kind, seed = job
    workloads = 1 + seed % 2
    found = simulated_study(np.zeros((CANDIDATES, workloads)), KINDS[kind], (1, seed))
    return kind, found.chosen is not None


def planted_study(job: Job) -> tuple[str, bool]:
    """Run a study with one candidate that is 1 % faster: whether it was found."""
    kind, seed = job
    gains = np.zeros((CANDIDATES, 1))
    gains[PLANTED] = log(1.01)
    return kind, simulated_study(gains, KINDS[kind], (2, seed)).chosen == PLANTED


def boundary_study(job: Job) -> tuple[str, bool]:
    """Confirm eight finalists of just the ratio that is demanded: whether one was accepted."""
    kind, seed = job
    gains = np.full((8, 1), log(RULE.better_ratio))
    evidence = simulated_evidence(gains, KINDS[kind], RULE.rounds, np.random.default_rng([3, seed]))
    return kind, judge(evidence).chosen is not None


def coverage_study(job: Job) -> tuple[str, tuple[bool, bool]]:
    """Compare the baseline with its copy: whether the interval misses 1; that of a bootstrap."""
    kind, seed = job
    rng = np.random.default_rng([4, seed])
    evidence = simulated_evidence(np.zeros((8, 1)), KINDS[kind], RULE.rounds, rng)
    copy = compare(evidence, range(FIRST, FIRST + 8))[COPY - 1]
    level = RULE.alpha / 2
    low, high = (quantile(copy.resampled, share) for share in (level, 1 - level))
    return kind, (not copy.low(level) <= 0 <= copy.high(level), not low <= 0 <= high)


def spread(
    study: Callable[[Job], tuple[str, T]], count: int, kinds: Sequence[str] = tuple(KINDS)
) -> list[tuple[str, T]]:
    """Run so many studies on all cores, the kinds of noise in turn."""
    if not count:
        return []
    jobs = [(kinds[number % len(kinds)], number) for number in range(count)]
    cores = len(sched_getaffinity(0))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return list(pool.map(study, jobs, chunksize=max(1, min(20, count // cores))))


def rates(found: Iterable[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    """Count how often something was so, of how many, by the kind of noise."""
    counted: dict[str, list[bool]] = defaultdict(list)
    for kind, is_so in found:
        counted[kind].append(is_so)
    return {kind: (sum(answers), len(answers)) for kind, answers in counted.items()}


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("simulated", "planted", "boundary", "coverage"):
        parser.add_argument(f"--{name}", type=int, default=0, metavar="STUDIES")
    parser.add_argument("--results", type=Path, help="a JSON file for the figures")
    asked = parser.parse_args()
    missed = spread(coverage_study, asked.coverage)
    tables = {
        "accepted of equal ones": rates(spread(null_study, asked.simulated)),
        "gain of 1 % found": rates(spread(planted_study, asked.planted, FOUND_IN)),
        "accepted at the boundary": rates(spread(boundary_study, asked.boundary)),
        "99 % interval misses 1": rates((kind, both) for kind, (both, _) in missed),
        "that of the bootstrap alone": rates((kind, boot) for kind, (_, boot) in missed),
    }
    tables = {title: table for title, table in tables.items() if table}
    for title, table in tables.items():
        show(title, table)
    if asked.results:
        asked.results.parent.mkdir(parents=True, exist_ok=True)
        asked.results.write_text(json.dumps(tables, indent=1) + "\n")
    return int(any(missed_bar(title, table) for title, table in tables.items()))


def show(title: str, table: dict[str, tuple[int, int]]) -> None:
    """Print a table."""
    so, of = totals(table)
    print(f"{title}: {so} of {of} ({so / of:.2%})")
    for kind, (part, whole) in table.items():
        print(f"    {kind:16} {part:6} of {whole:6} ({part / whole:.2%})")


def totals(table: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Add up a table."""
    return sum(so for so, _ in table.values()), sum(of for _, of in table.values())


def missed_bar(title: str, table: dict[str, tuple[int, int]]) -> bool:
    """Say whether a table misses its bar; those without one never do."""
    so, of = totals(table)
    if title == "accepted of equal ones":
        return so > of * MOST_ACCEPTED
    if title == "gain of 1 % found":
        return any(part < LEAST_FOUND * whole for part, whole in table.values())
    return False


if __name__ == "__main__":
    sys.exit(main())

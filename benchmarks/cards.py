"""Tunes the example kernels on a card and keeps what came of it as data.

    python benchmarks/cards.py --kernels DIR --layers ptxas --regime cold --evaluations 200
                               --results benchmarks/results/NAME.json [--only stencil,spmv]

DIR holds NAME.ptx for every launch file in examples/kernels (scripts/carry.py makes them). Each
kernel is a study of its own; one that fails is a row with its reason, and the others go on. The
file is written anew after each kernel, so that an interrupted run keeps what it has.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from math import exp, log
from pathlib import Path

from burnish import __version__
from burnish.errors import BurnishError
from burnish.model.control import Layer, Risk
from burnish.report.summary import document
from burnish.tuning.task import Task
from burnish.tuning.tune import tune

EXAMPLES = Path(__file__).parents[1] / "examples" / "kernels"


def main() -> int:
    """Run the studies."""
    asked = options().parse_args()
    names = (
        asked.only.split(",") if asked.only else [f.stem for f in sorted(EXAMPLES.glob("*.toml"))]
    )
    rows: list[dict[str, object]] = []
    for name in names:
        rows.append(row(name, asked))
        save(asked, rows)
        print(line(rows[-1]), flush=True)
    print(summary(rows))
    return 0


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernels", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--acfs", type=Path, help="where the ACFs go")
    parser.add_argument("--layers", default="")
    parser.add_argument("--allow", default="")
    parser.add_argument("--regime", default="cold")
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--minimize", default="runtime")
    parser.add_argument("--workloads", type=int, default=9, help="of each launch file, at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    return parser


def row(name: str, asked: argparse.Namespace) -> dict[str, object]:
    """Tune one kernel."""
    started = time.perf_counter()
    ptx = asked.kernels / f"{name}.ptx"
    with tempfile.TemporaryDirectory() as folder:
        launch = Path(folder, f"{name}.toml")
        head, *workloads = (EXAMPLES / launch.name).read_text().split("[[workload]]")
        launch.write_text("[[workload]]".join([head, *workloads[: asked.workloads]]))
        minimize = tuple(asked.minimize.split(","))
        acf = f"{name}-{asked.regime}" + ".acf" * (len(minimize) == 1)
        task = Task(
            kernel=ptx if ptx.exists() else EXAMPLES / f"{name}.ptx",
            launch=launch,
            minimize=minimize,
            device="cuda",
            regime=asked.regime,
            layers=frozenset(Layer(one) for one in asked.layers.split(",") if one) or None,
            allow=frozenset(Risk(one) for one in asked.allow.split(",") if one),
            evaluations=asked.evaluations,
            seed=asked.seed,
            store=f"sqlite:///{folder}/studies.sqlite",
            output=asked.acfs / acf if asked.acfs else None,
        )
        try:
            result, files = tune(task)
            told = document(result, [Path(file.name) for file in files], asked.seed)
        except BurnishError as error:
            told = {"error": f"{type(error).__name__}: {error}"}
    return {"kernel": name, "wall_s": round(time.perf_counter() - started, 2), **told}


def save(asked: argparse.Namespace, rows: Sequence[dict[str, object]]) -> None:
    """Write everything so far."""
    about = {
        "regime": asked.regime,
        "layers": asked.layers or "all",
        "allowed": asked.allow,
        "evaluations": asked.evaluations,
    }
    write(asked.results, {"about": made(asked) | about, "kernels": rows})


def made(asked: argparse.Namespace) -> dict[str, object]:
    """How data were made, on which card and when; places of this machine are nobody's business."""
    from burnish.devices.cuda_gpu import gpus

    found = gpus()[0]
    words = [
        f"--{name} {value}"
        for name, value in vars(asked).items()
        if value not in {None, ""} and not isinstance(value, Path)
    ]
    return {
        "made_by": " ".join([Path(sys.argv[0]).name, *words]),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "burnish": __version__,
        "device": found.name,
        "driver": found.driver,
    }


def write(results: Path, data: dict[str, object]) -> None:
    """Write a file of data anew."""
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text(json.dumps(data, indent=1) + "\n")


def line(row: dict[str, object]) -> str:
    """One kernel, for a person."""
    if "error" in row:
        return f"{row['kernel']:<12}{row['wall_s']:>8} s  {row['error']}"
    evaluations = row["evaluations"]
    assert isinstance(evaluations, dict)
    return (
        f"{row['kernel']:<12}{row['wall_s']:>8} s  {row['verdict']:<7} ratio {row['ratio']}"
        f"  interval {row['interval']}  A/A {row['resolution']}  distinct {evaluations['distinct']}"
        f"  failed {evaluations['failed']}  {row['controls']}  seconds {row['seconds']}"
    )


def summary(rows: Sequence[dict[str, object]]) -> str:
    """Geometric mean of what is shipped: 1 where there is no win."""
    ratios = [
        float(str(row["ratio"])) if row.get("verdict") == "BETTER" else 1.0
        for row in rows
        if "error" not in row
    ]
    if not ratios:
        return "nothing ran"
    mean = exp(sum(map(log, ratios)) / len(ratios))
    rest = sorted(ratios)[:-1]
    without = exp(sum(map(log, rest)) / len(rest)) if rest else 1.0
    return f"{len(ratios)} kernels: geometric mean {mean:.4f}, without the best {without:.4f}"


if __name__ == "__main__":
    sys.exit(main())

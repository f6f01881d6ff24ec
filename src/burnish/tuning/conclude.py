"""After a search: who won, which decisions matter, and what the verdict is."""

from collections.abc import Iterable, Sequence

import numpy as np

from burnish.evaluate.compiled import Compiler
from burnish.model.control import Value
from burnish.model.frozen import FrozenMap
from burnish.model.objective import Objective
from burnish.model.result import Winner
from burnish.model.trial import Status, Trial
from burnish.model.verdict import Outcome, Verdict
from burnish.search.pareto import front

__all__ = ["best_trials", "decided", "static_winners"]


def best_trials(trials: Iterable[Trial], objective: Objective) -> list[Trial]:
    """The best trial, or the front where several metrics are minimised; earliest first in a tie."""
    able = [
        trial
        for trial in trials
        if trial.status is Status.OK and all(name in trial.figures for name in objective.minimize)
    ]
    if not able:
        return []
    points = np.array([[trial.figures[name] for name in objective.minimize] for trial in able])
    if len(objective.minimize) == 1:
        return [able[int(np.argmin(points[:, 0]))]]
    chosen: dict[tuple[float, ...], Trial] = {}
    for number in front(points):
        chosen.setdefault(tuple(points[number]), able[number])
    return sorted(chosen.values(), key=lambda trial: trial.figures[objective.minimize[0]])


def static_winners(
    trials: Sequence[Trial], objective: Objective, compiler: Compiler
) -> tuple[Winner, ...]:
    """Judge the best trials by their static figures against trial 0, the plain build."""
    baseline = trials[0]
    winners = []
    for trial in best_trials(trials, objective):
        verdict = _static_verdict(baseline, trial, objective)
        if trial.number or len(objective.minimize) == 1:
            winners.append(Winner(trial, verdict, controls=decided(trial, compiler)))
    return tuple(winners)


def _static_verdict(baseline: Trial, trial: Trial, objective: Objective) -> Verdict:
    """BETTER means strictly smaller; with several metrics, strictly smaller in one of them."""
    better = [
        name for name in objective.minimize if trial.figures[name] < baseline.figures[name]
    ] or ([objective.minimize[0]] if baseline.status is Status.OVER_LIMIT else [])
    metric = better[0] if better else objective.minimize[0]
    before, after = baseline.figures[metric], trial.figures[metric]
    return Verdict(
        outcome=Outcome.BETTER if better else Outcome.SAME,
        metric=metric,
        baseline=before,
        tuned=after,
        reason=f"{metric} {before:g} → {after:g}; not run on a device"
        if better
        else f"no config has fewer {metric} than the plain build",
    )


def decided(trial: Trial, compiler: Compiler) -> FrozenMap[Value]:
    """What a trial decides, without what does not change its machine code."""
    space, config = compiler.bound.space, trial.config
    for name in space.changes(config):
        simpler = space.settle({**config, name: space[name].default})
        compiled = compiler.compile(simpler)
        if compiled.binary is not None and compiled.binary.digest == trial.binary:
            config = simpler
    return FrozenMap(space.changes(config))

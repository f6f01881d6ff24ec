"""A study outlives whatever its compiler does, and leaves no process and no half file behind."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.model.trial import Status, Trial
from burnish.settings import Settings, load
from burnish.toolchain.discover import find_one
from burnish.tuning.task import Task
from burnish.tuning.tune import tune

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

KERNEL = Path(__file__).parents[2] / "examples" / "lattice_boltzmann.ptx"


@pytest.fixture
def fake(tmp_path: Path) -> fake_ptxas.Fake:
    real = find_one(load({**os.environ, "BURNISH_CACHE": str(tmp_path / "look")}), "ptxas")
    if real is None:
        pytest.skip("no ptxas")
    return fake_ptxas.install(tmp_path / "fake", real.path, real.version)


def settings(fake: fake_ptxas.Fake, folder: Path) -> Settings:
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    real = load({**os.environ, "BURNISH_CACHE": str(folder / "cache")})
    return replace(real, ptxas=fake.tool.path, path=())


def study(fake: fake_ptxas.Fake, folder: Path, **changes: object) -> list[Trial]:
    trials: list[Trial] = []
    task = Task(
        kernel=KERNEL,
        device="none",
        minimize=("registers",),
        evaluations=12,
        jobs=2,
        store=f"sqlite:///{folder}/studies.sqlite",
    )
    tune(replace(task, **changes), observe=trials.append, settings=settings(fake, folder))  # type: ignore[arg-type]
    return trials


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        (fake_ptxas.hang(), Status.COMPILE_TIMEOUT),
        (fake_ptxas.leave_child("setsid sleep", parent="exit 1"), Status.REFUSED),
        (fake_ptxas.leave_child(parent=fake_ptxas.hang()), Status.COMPILE_TIMEOUT),
        (fake_ptxas.flood(), Status.COMPILE_CRASH),
        (fake_ptxas.crash(), Status.COMPILE_CRASH),
        (fake_ptxas.write_half(), Status.COMPILE_CRASH),
        (fake_ptxas.write_half(then="kill -9 $$"), Status.COMPILE_CRASH),
        (fake_ptxas.refuse("no"), Status.REFUSED),
    ],
    ids=["hang", "daemon", "child-hangs", "flood", "crash", "half", "half-and-killed", "refuse"],
)
def test_the_study_goes_on(
    fake: fake_ptxas.Fake, tmp_path: Path, behaviour: str, status: Status
) -> None:
    fake.when("--maxrregcount=168", behaviour)
    trials = study(fake, tmp_path)
    failed = [trial for trial in trials if trial.status.failed]
    assert {trial.status for trial in failed} == {status}
    assert all(trial.message for trial in failed)
    assert len({trial.binary for trial in trials if trial.binary}) == 12
    assert fake_ptxas.alive(fake) == []


def test_a_new_advisory_fails_a_candidate(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    advisory = "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized"
    fake.when("--maxrregcount=168", fake_ptxas.advise(advisory, fake_ptxas.pass_through()))
    failed = [trial for trial in study(fake, tmp_path) if trial.status.failed]
    assert failed
    assert all("C7510" in trial.message for trial in failed)


def test_an_advisory_of_the_plain_build_fails_nobody(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    fake.always(fake_ptxas.advise("(C7510) Potential loss", fake_ptxas.pass_through()))
    assert not [trial for trial in study(fake, tmp_path) if trial.status.failed]


def test_one_seed_gives_the_same_study_twice(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    def told(folder: Path) -> list[tuple[object, ...]]:
        folder.mkdir()
        trials = study(fake, folder, evaluations=40, seed=7)
        return [(t.number, t.config, t.status, t.binary, t.duplicate_of) for t in trials]

    assert told(tmp_path / "first") == told(tmp_path / "second")


def test_the_front_is_what_brute_force_finds(fake: fake_ptxas.Fake, tmp_path: Path) -> None:
    trials: list[Trial] = []
    metrics = ("registers", "spills")
    task = Task(
        kernel=KERNEL,
        device="none",
        minimize=metrics,
        evaluations=60,
        store=f"sqlite:///{tmp_path}/studies.sqlite",
    )
    result, _ = tune(task, observe=trials.append, settings=settings(fake, tmp_path))
    points = {tuple(t.figures[m] for m in metrics) for t in trials if t.status is Status.OK}
    front = {
        point
        for point in points
        if not any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True))
            for other in points
        )
    }
    found = {tuple(winner.trial.figures[m] for m in metrics) for winner in result.winners}
    plain = tuple(trials[0].figures[m] for m in metrics)
    assert found == front - {plain}
    assert len(found) >= 2

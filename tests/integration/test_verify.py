"""`burnish verify`: what is better, the same, wrong, or does not apply, and its exit codes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.c_acf import FASTER, NBODY, block, launch, write

from burnish.acf.model import Shape, Tuned
from burnish.cli.app import run
from burnish.model.frozen import FrozenMap

Change = Callable[[Tuned], Tuned]


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BURNISH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nbody.c").write_text(NBODY.read_text())
    launch(Path("nbody.toml"), 64, 75)


def verify(*words: str) -> int:
    return run(["verify", "nbody.c", "--launch", "nbody.toml", "--apply-controls", "k.acf", *words])


@pytest.mark.slow
def test_a_gain_is_confirmed_on_what_the_search_never_saw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("k.acf"), block(NBODY, FASTER))
    # By design once in a hundred times the plain build is found unlike its own copy: UNSURE.
    assert verify("--json", "k.json") == 0 or verify("--json", "k.json", "--seed", "1") == 0
    said = capsys.readouterr()
    assert "BETTER than the plain build" in said.out
    assert "held out" in said.out
    assert said.err == ""
    told = json.loads(Path("k.json").read_text())
    assert told["verdict"] == "BETTER"
    assert told["ratio"] > 1.5
    assert told["evaluations"]["confirmed"] == 1
    names = {one["name"]: one["held_out"] for one in told["winners"][0]["workloads"]}
    assert names == {"64": False, "75": True}
    assert all(one["interval"][0] > 1 for one in told["winners"][0]["workloads"])


def test_the_same_code_is_no_win(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("k.acf"), block(NBODY, ("-O3", "-fno-math-errno"), plain=FASTER))
    assert verify() == 3
    assert "no win here (SAME)" in capsys.readouterr().out


@pytest.mark.parametrize("controls", [{}, {"host.not-known-here": "on"}])
def test_other_answers_are_wrong(
    capsys: pytest.CaptureFixture[str], controls: dict[str, str]
) -> None:
    found = replace(block(NBODY, ("-Ofast",)), controls=FrozenMap(controls))
    write(Path("k.acf"), found)
    assert verify("--json", "-") == 4
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "WRONG"
    assert "differ" in told["reason"]
    assert told["ratio"] is None
    assert told["evaluations"]["failed"] == {"wrong": 1}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda tuned: replace(tuned, key="c:" + "0" * 64), "not the one that was tuned"),
        (lambda tuned: replace(tuned, arch="pdp11"), "was tuned for pdp11"),
        (lambda tuned: replace(tuned, baseline_compiler="gcc 3.4"), "was tuned for gcc 3.4"),
        (lambda tuned: replace(tuned, entry="other"), "no block is for nbody; it has: other"),
        (lambda tuned: replace(tuned, shapes=(Shape(((1, 2), None, None)),)), "certain launches"),
        (lambda tuned: replace(tuned, baseline_options=("-fplugin=x",)), "with -fplugin=x"),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, compiler="gcc 3.4")),
            "gcc 3.4 was not found",
        ),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, options=("-O3", "-fplugin=x"))),
            "options that do more",
        ),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, options=("-O3", "-fno-such"))),
            "does not build it",
        ),
        (
            lambda tuned: replace(tuned, code=replace(tuned.code, binary_sha256="0" * 64)),
            "other code came out",
        ),
    ],
)
def test_a_block_that_does_not_apply_is_an_error_in_one_line(
    capsys: pytest.CaptureFixture[str], change: Change, says: str
) -> None:
    write(Path("k.acf"), change(block(NBODY, FASTER)))
    assert verify() == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("burnish: ")
    assert says in said.err
    assert said.err.count("\n") == 1


def test_the_users_own_options_must_be_those_that_were_tuned_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(Path("k.acf"), block(NBODY, FASTER, plain=("-O2",)))
    assert verify("--", "-O3") == 1
    assert "was tuned for builds with -O2, and this one has -O3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--device", "none"], "what is verified is run"),
        (["--device", "cuda"], "a C kernel runs on the host"),
        (["--regime", "tepid"], "--regime 'tepid'"),
        (["--launch", "missing.toml"], "missing.toml"),
    ],
)
def test_wrong_usage_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    write(Path("k.acf"), block(NBODY, FASTER))
    assert verify(*words) in {1, 2}
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1

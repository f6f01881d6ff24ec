"""`burnish tune` from the outside: results, exit codes, interruption, bad input."""

import contextlib
import itertools
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.toolchain

KERNEL = Path(__file__).parents[2] / "examples" / "lattice_boltzmann.ptx"
STATIC = ["--device", "none", "--minimize", "registers", "--limit", "spills=0"]

Burnish = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(tmp_path), "BURNISH_CACHE": str(tmp_path / "cache")}


@pytest.fixture
def burnish(environment: dict[str, str], tmp_path: Path) -> Burnish:
    def run(*words: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "burnish", *map(str, words)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def one_line(done: "subprocess.CompletedProcess[str]") -> str:
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_tuning_writes_the_acf_and_everything_printed_as_json(
    burnish: Burnish, tmp_path: Path
) -> None:
    done = burnish("tune", KERNEL, *STATIC, "--evaluations", 40, "-o", "k.acf", "--json", "k.json")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "k.json").read_text())
    assert told["verdict"] == "BETTER"
    assert told["tuned"]["registers"] < told["baseline"]["registers"]
    assert told["tuned"]["spills"] == 0
    assert told["evaluations"]["distinct"] == 40
    assert f'binary_sha256 = "{told["digests"]["tuned"]}"' in (tmp_path / "k.acf").read_text()
    assert done.stderr == ""


def test_two_metrics_give_a_folder_with_an_acf_a_point(burnish: Burnish, tmp_path: Path) -> None:
    metrics = ["--minimize", "registers", "--minimize", "spills"]
    done = burnish(
        "tune",
        KERNEL,
        "--device",
        "none",
        *metrics,
        "--evaluations",
        40,
        "-o",
        "front",
        "--json",
        "k.json",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "k.json").read_text())
    points = {(w["figures"]["registers"], w["figures"]["spills"]) for w in told["winners"]}
    assert len(points) == len(told["winners"]) >= 2
    assert len(list((tmp_path / "front").glob("*.acf"))) >= 2


def test_nothing_to_gain_is_a_plain_sentence_and_exit_code_3(
    burnish: Burnish, tmp_path: Path
) -> None:
    tiny = tmp_path / "tiny.ptx"
    tiny.write_text(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry tiny() { ret; }\n"
    )
    done = burnish("tune", tiny, "--device", "none", "--minimize", "registers", "--evaluations", 20)
    assert done.returncode == 3, done.stderr
    assert "no win" in done.stdout


def test_a_killed_study_resumes_to_what_an_uninterrupted_one_gives(
    burnish: Burnish, environment: dict[str, str], tmp_path: Path
) -> None:
    words = ["tune", str(KERNEL), *STATIC, "--evaluations", "120", "--study", "s", "--seed", "5"]
    killed = ["--store", f"sqlite:///{tmp_path}/killed.sqlite"]
    process = subprocess.Popen(
        [sys.executable, "-m", "burnish", *words, *killed],
        env={**environment, "BURNISH_CACHE": str(tmp_path / "cold")},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_trials(tmp_path / "killed.sqlite", 20)
    process.kill()
    process.wait()
    assert 20 <= len(trials_in(tmp_path / "killed.sqlite")) < 120
    resumed = burnish(*words, *killed, "--resume", "--json", "resumed.json")
    whole = burnish(*words, "--store", f"sqlite:///{tmp_path}/whole.sqlite", "--json", "whole.json")
    assert resumed.returncode == whole.returncode == 0, resumed.stderr + whole.stderr
    assert trials_in(tmp_path / "killed.sqlite") == trials_in(tmp_path / "whole.sqlite")


def wait_for_trials(file: Path, wanted: int, most_s: float = 120.0) -> None:
    until = time.monotonic() + most_s
    while time.monotonic() < until:
        with contextlib.suppress(sqlite3.OperationalError):  # not there yet, or busy
            if len(trials_in(file)) >= wanted:
                return
        time.sleep(0.05)
    pytest.fail(f"no {wanted} trials in {most_s} s")


def trials_in(file: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        query = "select number, changes, status, binary from burnish_trials order by number"
        rows = database.execute(query)
        return list(rows)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_end_from_outside_keeps_what_was_found_and_prints_the_line_that_resumes(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    store = ["--store", f"sqlite:///{tmp_path}/s.sqlite"]
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "burnish", "tune", KERNEL, *STATIC, "--evaluations", "3000", *store],
        env={**environment, "TMPDIR": str(tmp_path / "temporary")},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_trials(tmp_path / "s.sqlite", 5)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "--resume" in stderr
    assert "Traceback" not in stderr
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("numbers", [[signal.SIGINT], [signal.SIGINT, signal.SIGTERM]])
def test_an_end_from_outside_that_is_repeated_leaves_nothing_either(
    environment: dict[str, str], tmp_path: Path, numbers: list[signal.Signals]
) -> None:
    store = ["--store", f"sqlite:///{tmp_path}/s.sqlite"]
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "burnish", "tune", KERNEL, *STATIC, "--evaluations", "3000", *store],
        env={**environment, "TMPDIR": str(tmp_path / "temporary")},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_trials(tmp_path / "s.sqlite", 5)
    until = time.monotonic() + 20
    for number in itertools.cycle(numbers):
        process.send_signal(number)
        if process.poll() is not None or time.monotonic() > until:
            break
        time.sleep(0.01)
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "--resume" in stderr
    assert list((tmp_path / "temporary").iterdir()) == []


def test_an_acf_to_start_from_is_tried_right_after_the_plain_build(
    burnish: Burnish, tmp_path: Path
) -> None:
    assert burnish("tune", KERNEL, *STATIC, "--evaluations", 20, "-o", "k.acf").returncode == 0
    store = ["--store", f"sqlite:///{tmp_path}/s.sqlite", "--study", "s", "--seed", 3]
    words = ["tune", KERNEL, *STATIC, "--start-from", "k.acf", *store, "-o", "again.acf"]
    assert burnish(*words, "--evaluations", 2).returncode == 0
    told = (tmp_path / "k.acf").read_text(), (tmp_path / "again.acf").read_text()
    first, again = (re.findall("^binary_sha256.*$", text, re.MULTILINE) for text in told)
    assert first == again
    (tmp_path / "k.acf").write_text(told[0] + "\n")
    other = burnish(*words, "--evaluations", 3, "--resume")
    assert other.returncode == 1
    assert "start-from" in one_line(other)


def test_a_study_of_other_inputs_is_refused_by_name(burnish: Burnish) -> None:
    first = ["--evaluations", "10", "--study", "mine"]
    assert burnish("tune", KERNEL, *STATIC, *first).returncode == 0
    other = burnish("tune", KERNEL, *STATIC, *first, "--seed", "9", "--resume")
    assert other.returncode == 1
    assert "seed" in one_line(other)
    assert "mine" in other.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["tune", "missing.ptx", *STATIC], 2, "missing.ptx"),
        (["tune", "empty.ptx", *STATIC], 1, "empty"),
        (["tune", KERNEL, *STATIC, "--entry", "nosuch"], 2, "lattice_boltzmann"),
        (["tune", KERNEL, *STATIC, "--arch", "sm_9000"], 2, "sm_90a"),
        (["tune", KERNEL, "--device", "none"], 2, "--minimize"),
        (["tune", KERNEL, "--device", "none", "--minimize", "runtime"], 2, "device"),
        (["tune", KERNEL, *STATIC, "-o", "/proc/nowhere/k.acf"], 2, "/proc/nowhere/k.acf"),
        (["tune", KERNEL, *STATIC, "--limit", "registers"], 2, "METRIC=VALUE"),
        (["tune", KERNEL, *STATIC, "--budget", "soon"], 2, "2m"),
        (["tune", KERNEL, *STATIC, "--evaluations", "0"], 2, "0"),
        (["tune", KERNEL, *STATIC, "--engine", "magic"], 2, "evolution"),
        (["tune", KERNEL, *STATIC, "--", "--no-such-option"], 1, "no-such-option"),
        (["tune", KERNEL, *STATIC, "--", "--help"], 2, "question"),
        (["tune", KERNEL, *STATIC, "--", "--apply-controls", "x"], 2, "--apply-controls"),
        (["tune", KERNEL, *STATIC, "--", "--entry=x"], 2, "--entry"),
        (["tune", KERNEL, *STATIC, "--", ""], 2, "''"),
        (["tune", KERNEL, *STATIC, "--", "-arch"], 2, "what follows --: -arch needs a value"),
        (["tune", KERNEL, *STATIC, "--", "-O3", "--gpu-name="], 2, "--gpu-name= needs a value"),
        (["tune", KERNEL, *STATIC, "--", "-O"], 2, "-O needs a value"),
        (["tune", KERNEL, *STATIC, "--start-from", "missing.acf"], 2, "missing.acf"),
        (["show", "missing.acf"], 2, "missing.acf"),
        (["show", "empty.ptx"], 1, "empty.ptx"),
    ],
)
def test_bad_input_is_one_line_that_says_what_to_do(
    burnish: Burnish, tmp_path: Path, words: list[object], code: int, says: str
) -> None:
    (tmp_path / "empty.ptx").touch()
    done = burnish(*words)
    assert done.returncode == code, done.stderr
    assert says in one_line(done)

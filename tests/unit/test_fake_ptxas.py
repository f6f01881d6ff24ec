from pathlib import Path

import pytest
from tests.helpers import fake_ptxas

from burnish.toolchain import probe
from burnish.toolchain.discover import architectures, ptxas_options
from burnish.toolchain.process import run


def test_it_answers_questions_like_the_version_it_plays(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path / "old", version="12.4.131")
    program = probe.follow(fake.tool.path, "ptxas")
    assert program is not None
    assert probe.version(program, "ptxas") == "12.4.131"
    assert "apply-controls" not in ptxas_options(fake.tool)
    assert "sm_90a" in architectures(fake.tool)
    assert "sm_100" not in architectures(fake.tool)
    newer = fake_ptxas.install(tmp_path / "new", version="13.3.73")
    assert "apply-controls" in ptxas_options(newer.tool)
    assert not fake.calls()


@pytest.mark.parametrize("words", [["-o", "x"], ["-o=x"], ["--output-file=x"]])
def test_it_writes_a_cubin_where_it_is_told_to(tmp_path: Path, words: list[str]) -> None:
    fake = fake_ptxas.install(tmp_path / "fake")
    assert run([str(fake.tool.path), *words, "k.ptx"], cwd=tmp_path).ok
    assert (tmp_path / "x").read_bytes() == fake_ptxas.CUBIN


def test_rules_hold_by_words_and_by_call(tmp_path: Path) -> None:
    fake = fake_ptxas.install(tmp_path / "fake")
    fake.when("--maxrregcount=32", fake_ptxas.refuse("too few"))
    fake.on_call(3, fake_ptxas.refuse("the third", code=7))
    lines = [["-O1"], ["--maxrregcount=32"], ["-O1"], ["-O1"]]
    outcomes = [run([str(fake.tool.path), *line], cwd=tmp_path) for line in lines]
    assert [outcome.code for outcome in outcomes] == [0, 255, 7, 0]
    assert outcomes[1].stderr == b"ptxas fatal   : too few\n"
    assert fake.calls() == [" ".join(line) for line in lines]
    fake.always(fake_ptxas.advise("(C7510) slow", then=fake_ptxas.after_ms(1, "exit 3")))
    last = run([str(fake.tool.path)], cwd=tmp_path)
    assert (last.code, last.stderr) == (3, b"ptxas info    : (C7510) slow\n")

"""All rewrites together, on real kernels: allowed, repeatable, and nothing by default."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.rewriting import FILES, ROOT, bodies, random_config, values

from burnish.ptx.checking.checker import Checker
from burnish.ptx.module import parse
from burnish.ptx.rewrites.catalogue import controls, rewrite
from burnish.ptx.rewrites.noncoherent import requires

CONFIGS = 10
DIGEST = """
import hashlib
from burnish.ptx.module import parse
from burnish.ptx.rewrites.catalogue import rewrite
from tests.helpers.rewriting import FILES, bodies, random_config
found = hashlib.sha256()
for path in FILES[:5]:
    for body in bodies(parse(path.read_text())):
        for seed in range(10):
            found.update(rewrite(body, random_config(body, seed)).encode())
print(found.hexdigest())
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_default_is_the_plain_text(path: Path) -> None:
    for body in bodies(parse(path.read_text())):
        found = controls(body)
        assert len({control.name for control in found}) == len(found)
        assert rewrite(body, {}) == body.text
        assert rewrite(body, values(found)) == body.text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_checker_takes_every_rewrite(path: Path) -> None:
    for body in bodies(parse(path.read_text())):
        allowed = requires(body, {"ptx.loads.noncoherent": True})
        checker = Checker(body.text, ptx_version=body.version, may_noncoherent=allowed)
        for seed in range(CONFIGS):
            checker.check(rewrite(body, random_config(body, seed)))


def test_a_config_gives_one_text_in_every_process() -> None:
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        argv = [sys.executable, "-c", DIGEST]
        found.add(subprocess.run(argv, env=environment, capture_output=True, check=True).stdout)
    assert len(found) == 1

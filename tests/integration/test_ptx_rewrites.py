"""Rewritten kernels go through the real ptxas."""

from pathlib import Path

import pytest
from tests.helpers.rewriting import ROOT, random_config
from tests.helpers.toolkit import assembled, compiled

from burnish.cubin.digest import binary_digest
from burnish.ptx.body import parse_body, tidied
from burnish.ptx.checking.checker import Checker
from burnish.ptx.module import parse
from burnish.ptx.rewrites.catalogue import rewrite

pytestmark = [pytest.mark.toolchain, pytest.mark.slow]

KERNELS = ROOT / "examples" / "kernels"
NAMES = [*sorted(path.stem for path in KERNELS.glob("*.cu")), "attention"]
CONFIGS = 8


@pytest.mark.parametrize("name", NAMES)
def test_ptxas_takes_rewritten_kernels(name: str, tmp_path: Path) -> None:
    source = KERNELS / f"{name}.cu"
    if source.exists():
        text = compiled(source.read_text(), tmp_path / source.name, "-arch=sm_90")
    else:
        text = source.with_suffix(".ptx").read_text()
    module = parse(text)
    (entry,) = module.entries
    body = parse_body(tidied(entry), module)
    arch = module.target.partition(",")[0]
    checker = Checker(body.text, ptx_version=body.version, may_noncoherent=range(99))
    digests = {binary_digest(assembled(text, arch, tmp_path), entry.name)}
    for seed in range(CONFIGS):
        config = random_config(body, seed, limits=False)
        found = rewrite(body, config)
        checker.check(found)
        whole = text[: entry.span[0]] + found + text[entry.span[1] :]
        digests.add(binary_digest(assembled(whole, arch, tmp_path), entry.name))
    assert len(digests) > CONFIGS // 2

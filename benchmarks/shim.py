"""What the ptxas shim costs over the real ptxas: medians of the differences within rounds.

    python benchmarks/shim.py [--rounds 101] [--assert]

The tuned build has the options of the plain one, so that both compile the same code; what is left
is the shim's own time. A build that was done before is done from memory; "first" forgets it each
time. With --assert it fails where a bound of the design is passed.
"""

import argparse
import operator
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from burnish.acf.model import Acf, Evidence, Tuned, TunedCode
from burnish.acf.write import save
from burnish.apply.again import FOLDER as MEMORY
from burnish.apply.shims import write
from burnish.cubin.digest import binary_digest
from burnish.model.toolchain import Tool
from burnish.model.verdict import Outcome
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.ptx.replace import payload
from burnish.settings import load
from burnish.toolchain.discover import find_one

ARCH = "sm_90"
BOUNDS_MS = {"no ACF": 3.0, "ACF": 60.0, "shelf, hit": 60.0, "shelf, miss": 60.0}
BASE = "ptxas"
FIRST = "first"
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor)
{
    .reg .f32 %f<4>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [data];
    ld.param.f32 %f1, [factor];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %rd3, %r4, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    st.global.f32 [%rd4], %f3;
    ret;
}
"""


def tuned(tool: Tool, folder: Path) -> Acf:
    """An ACF whose PTX is the plain one with another name for a register."""
    module = parse(PTX)
    other = parse(PTX.replace("%f3", "%g3").replace("%f<4>;", "%f<3>;\n    .reg .f32 %g<4>;"))
    (folder / "plain.ptx").write_text(PTX)
    subprocess.run(
        [tool.path, f"-arch={ARCH}", "plain.ptx", "-o", "plain.cubin"], cwd=folder, check=True
    )
    digest = binary_digest((folder / "plain.cubin").read_bytes(), "scale")
    code = TunedCode(tool.name, (), digest, payload(module, other, "scale"))
    evidence = Evidence(Outcome.BETTER, "registers", 2, 1)
    key = entry_digest(module, "scale")
    return Acf((Tuned(key, "scale", ARCH, tool.name, (), code, evidence=evidence),))


def commands(tool: Tool, folder: Path) -> dict[str, list[str]]:
    """What is measured: a name, and the command with its environment in front."""
    shim = str(folder / "shims" / "ptxas")
    rest = [f"-arch={ARCH}", "plain.ptx", "-o", "out.cubin"]
    plain = ["/usr/bin/env", "-u", "BURNISH_SHELF", f"BURNISH_CACHE={folder / 'cache'}"]
    acf = [*plain, shim, "--apply-controls=tuned.acf", *rest]
    return {
        BASE: [*plain, str(tool.path), *rest],
        "no ACF": [*plain, shim, *rest],
        "ACF": acf,
        "shelf, hit": [*plain, "BURNISH_SHELF=shelf", shim, *rest],
        "shelf, miss": [*plain, "BURNISH_SHELF=empty", shim, *rest],
        f"ACF, {FIRST}": acf,
        f"shelf, miss, {FIRST}": [*plain, "BURNISH_SHELF=empty", shim, *rest],
    }


def measure(folder: Path, argvs: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """Median ms of the real ptxas, and by how much each other command takes longer in its round."""
    times_ms: dict[str, list[float]] = {name: [] for name in argvs}
    for number in range(rounds + 1):
        for name, argv in argvs.items():
            if name.endswith(FIRST):
                shutil.rmtree(folder / "cache" / MEMORY, ignore_errors=True)
            start_ns = time.perf_counter_ns()
            subprocess.run(argv, cwd=folder, check=True)
            if number:  # the first round fills caches
                times_ms[name].append((time.perf_counter_ns() - start_ns) / 1e6)
        for name in ("ACF", "shelf, hit", "shelf, miss"):  # what was forgotten is known again
            subprocess.run(argvs[name], cwd=folder, check=True)
    base_ms = times_ms.pop(BASE)
    over_ms = {
        name: statistics.median(map(operator.sub, values, base_ms))
        for name, values in times_ms.items()
    }
    return {BASE: statistics.median(base_ms), **over_ms}


def main() -> int:
    """Print the medians; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--assert", action="store_true", dest="must")
    said = parser.parse_args()
    tool = find_one(load(), "ptxas")
    if tool is None:
        sys.exit("no ptxas was found")
    with tempfile.TemporaryDirectory(prefix="burnish-") as name:
        folder = Path(name)
        write(folder / "shims", load())
        acf = tuned(tool, folder)
        for kind in ("shelf", "empty"):
            (folder / kind).mkdir()
        save(acf, folder / "tuned.acf")
        save(acf, folder / "shelf" / "tuned.acf")
        medians_ms = measure(folder, commands(tool, folder), said.rounds)
    base_ms = medians_ms.pop(BASE)
    print(f"{tool.name}: {base_ms:.1f} ms")
    passed = True
    for name, over_ms in medians_ms.items():
        bound_ms = BOUNDS_MS.get(name)
        passed &= bound_ms is None or over_ms <= bound_ms
        print(f"{name}: {over_ms:+.1f} ms over it" + (f" (bound {bound_ms})" if bound_ms else ""))
    return 0 if passed or not said.must else 1


if __name__ == "__main__":
    sys.exit(main())

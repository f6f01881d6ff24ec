"""A search with your own objective: here, what `ptxas -v` says of spills and registers.

Any build will do that takes `--apply-controls`: put the shims on PATH first.

    burnish shims shims && PATH="$PWD/shims:$PATH" python examples/own_objective.py
"""

import re
import subprocess
from pathlib import Path

import burnish

KERNEL = Path(__file__).with_name("lattice_boltzmann.ptx")


def objective(config_blob: str) -> tuple[float, float] | object:
    """Bytes that a thread spills, and registers that it uses."""
    Path("config.acf").write_bytes(bytes.fromhex(config_blob))
    build = subprocess.run(
        ["ptxas", "-v", "-arch=sm_90a", "--apply-controls", "config.acf", str(KERNEL)],
        capture_output=True,
        text=True,
        check=False,
    )
    if build.returncode:
        return burnish.INVALID
    spills = re.findall(r"(\d+) bytes spill", build.stderr)
    registers = re.findall(r"Used (\d+) registers", build.stderr)
    return float(sum(map(int, spills))), float(registers[0])


if __name__ == "__main__":
    space = burnish.space(KERNEL, arch="sm_90a")
    result = burnish.Search(objective, space, generations=6, population=10).run()
    plain = result.trials[0].figures
    for found in result.pareto_front():
        spills, registers = found.figures.values()
        print(f"{registers:.0f} registers, {spills:.0f} bytes spilled")
    print(f"plain build: {plain['objective_1']:.0f} registers")
    result.best.save("lattice_boltzmann.acf")

"""Bodies and random configs for tests of the rewrites of PTX."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from burnish.model.control import Control, Value
from burnish.ptx.body import Body, parse_body, tidied
from burnish.ptx.module import Module, parse
from burnish.ptx.rewrites.catalogue import controls

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "tests" / "data").glob("*.ptx")), ROOT / "examples/kernels/attention.ptx"]
REGISTERS = ".reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %rd<9>;"


def body_of(
    code: str,
    *,
    version: str = "9.0",
    target: str = "sm_90a",
    directives: str = "",
    parameters: str = ".param .u64 a, .param .u64 b",
) -> Body:
    """A body of one entry of that code."""
    start = f".version {version}\n.target {target}\n.address_size 64\n"
    module = parse(
        f"{start}.visible .entry k({parameters}) {directives}\n{{\n{REGISTERS}\n{code}\n}}"
    )
    return parse_body(module.entry("k"), module)


def bodies(module: Module) -> list[Body]:
    """The bodies of a module's entries, without line marks."""
    return [parse_body(tidied(entry), module) for entry in module.entries]


def values(found: Sequence[Control]) -> dict[str, Value]:
    """The default of each control."""
    return {control.name: control.default for control in found}


def random_config(body: Body, seed: int, *, limits: bool = True) -> dict[str, Value]:
    """Values of a share of the controls; without limits none that ptxas may refuse."""
    rng = Random(seed)
    share = rng.choice((0.1, 0.5, 1.0))
    config: dict[str, Value] = {}
    for control in controls(body):
        is_limit = control.name == "ptx.maxnreg"
        if rng.random() < share and (limits or not is_limit):
            exotic = rng.random() < 0.5
            below = control.domain.size if exotic else control.domain.usual
            config[control.name] = control.domain.at(rng.randrange(below))
    return config

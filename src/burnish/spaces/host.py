"""The space of a C kernel on the host, and what a config of it tells gcc."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from burnish.controls.host import CONTRACT, DEFAULT, OFF, ON, Listing, fuses, host_controls
from burnish.controls.host_help import is_enabled
from burnish.controls.host_known import NEEDED_BY
from burnish.controls.host_target import MACHINES, Machine
from burnish.errors import SpaceError
from burnish.model.code import Code
from burnish.model.control import Control, Layer, Value
from burnish.model.kernel import Kernel
from burnish.model.space import Condition, Config, Space
from burnish.model.toolchain import Tool, Toolchain
from burnish.spaces.entries import refuse_shared
from burnish.spaces.request import Request, within_risk
from burnish.toolchain.gcc import option_help, option_states
from burnish.toolchain.gcc_options import parse

__all__ = ["HostSpace", "host_space"]

_NO_LEVEL = "0"
_CONTRACT_OPTION = "-ffp-contract="


@dataclass(frozen=True)
class HostSpace:
    """A space bound to its kernel and its compiler.

    Attributes:
        kernel: What is tuned.
        space: What can be decided.
        toolchain: Holds the gcc.
        processor: Names of the controls that allow other instructions than the plain build's.
        keeps_apart: Whether those must not bring fused multiply-add by themselves, as the plain
            build rounds products and sums apart.
    """

    kernel: Kernel
    space: Space
    toolchain: Toolchain
    processor: frozenset[str]
    keeps_apart: bool

    @property
    def baseline(self) -> Code:
        """The plain build, exactly as the user's options say it."""
        return Code(self._tool.name, self.kernel.options)

    @property
    def known_bad(self) -> Code:
        """A build that must differ from the plain one, or controls do not reach gcc."""
        return Code(self._tool.name, parse([*self.kernel.options, "-O0"]).options)

    def code_of(self, config: Config) -> Code:
        """What gcc is told for a config."""
        changes = self.space.changes(config)
        said = [_said(self.space[name], str(value)) for name, value in changes.items()]
        if self.keeps_apart and self.processor & changes.keys() and CONTRACT not in changes:
            said.append(f"{_CONTRACT_OPTION}{OFF}")
        return Code(self._tool.name, parse([*self.kernel.options, *said]).options)

    @property
    def _tool(self) -> Tool:
        return self.toolchain.first("gcc")


def host_space(kernel: Kernel, toolchain: Toolchain, request: Request) -> HostSpace:
    """Find everything that can be decided about a C kernel.

    Args:
        kernel: The kernel; its plain build is made by the toolchain's first gcc.
        toolchain: Holds a gcc.
        request: Which layers and risks the user wants.

    Raises:
        KernelError: Its file has other functions that can be called from outside.
        ToolchainError: There is no gcc, or it does not list its options.
        SpaceError: Nothing is left to decide.
    """
    refuse_shared(kernel)
    tool = toolchain.first("gcc")
    listing = _listing(tool, kernel)
    level = next((one[2:] for one in kernel.options if one.startswith("-O")), _NO_LEVEL)
    all_controls = host_controls(listing, level) if request.wants(Layer.HOST) else ()
    kept = [found for one in all_controls if (found := within_risk(one, request)) is not None]
    if not kept:
        raise SpaceError(
            f"{kernel.entry}: nothing is left to decide with these layers and risks; "
            "try --layers host, or --allow"
        )
    is_said = any(one.startswith(_CONTRACT_OPTION) for one in kernel.options)
    return HostSpace(
        kernel=kernel,
        space=Space(tuple(kept), tuple(_conditions(kept, listing))),
        toolchain=Toolchain((tool,)),
        processor=_processor(kernel.arch),
        keeps_apart=not is_said and not fuses(listing),
    )


def _listing(tool: Tool, kernel: Kernel) -> Listing:
    machine = MACHINES.get(kernel.arch)
    native, levels = "", dict[str, str]()
    if machine is not None:
        native = option_states(tool, (f"-{machine.isa}=native",))
        levels = {
            level: option_states(tool, (f"-{machine.isa}={level}",)) for level in machine.levels
        }
    return Listing(
        meanings=option_help(tool),
        states=option_states(tool, kernel.options),
        native=native,
        levels=levels,
        machine=kernel.arch,
    )


def _processor(arch: str) -> frozenset[str]:
    machine = MACHINES.get(arch)
    names = (machine.isa, *machine.extensions) if machine is not None else ()
    return frozenset(f"host.{name}" for name in names)


def _conditions(controls: list[Control], listing: Listing) -> list[Condition]:
    by_name = {control.name: control for control in controls}
    found = [_switched(by_name, child, parent) for child, parent in NEEDED_BY.items()]
    machine = MACHINES.get(listing.machine)
    if machine is not None and machine.wide[0]:
        found += _widened(by_name, machine, listing)
    return [one for one in found if one is not None]


def _switched(by_name: Mapping[str, Control], child: str, parent: str) -> Condition | None:
    """A parameter that matters only where its switch is on."""
    switch = by_name.get(f"host.{parent}")
    if switch is None or f"host.{child}" not in by_name:
        return None
    # A switch that can only be switched off is on already.
    on = (ON,) if ON in _domain(switch) else (DEFAULT,)
    return Condition(f"host.{child}", switch.name, on)


def _widened(
    by_name: Mapping[str, Control], machine: Machine, listing: Listing
) -> Iterator[Condition]:
    """What speaks of wide vectors, where only another processor than the plain one has them."""
    names, bringer = machine.wide
    isa = by_name.get(f"host.{machine.isa}")
    if isa is None or is_enabled(listing.states, bringer):
        return
    states = {"native": listing.native, **listing.levels}
    wide = tuple(one for one in _domain(isa) if is_enabled(states.get(str(one), ""), bringer))
    for name in names:
        if f"host.{name}" in by_name:
            yield Condition(f"host.{name}", isa.name, wide)


def _domain(control: Control) -> list[Value]:
    return [control.domain.at(number) for number in range(control.domain.size)]


def _said(control: Control, value: str) -> str:
    if "{}" in control.option:
        return control.option.format(value)
    kind, name = control.option[:2], control.option[2:]
    return control.option if value == ON else f"{kind}no-{name}"

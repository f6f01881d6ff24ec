"""The space of a PTX kernel, and what a config of it tells the compiler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.controls.ptxas import (
    FLOAT_ATOMICS,
    NONE,
    PTXAS,
    REGISTER_LIMITS,
    VERSION,
    version_control,
)
from burnish.errors import SpaceError
from burnish.model.code import Code
from burnish.model.control import Choice, Control, Layer, Risk, Value
from burnish.model.kernel import Kernel
from burnish.model.space import Condition, Config, Space
from burnish.model.toolchain import Tool, Toolchain
from burnish.ptx.module import Module, parse
from burnish.ptx.replace import uses_setmaxnreg
from burnish.spaces.entries import refuse_shared
from burnish.spaces.request import Request, within_risk
from burnish.toolchain.discover import architectures, ptxas_options
from burnish.toolchain.options import normal_form

__all__ = ["PtxSpace", "ptx_space"]

OPAQUE = "opaque.file"
_MAX_REGISTERS = "ptxas.maxrregcount"
_OVERRIDE = "override-directive-values"


@dataclass(frozen=True)
class PtxSpace:
    """A space bound to its kernel and compilers.

    Attributes:
        kernel: What is tuned.
        space: What can be decided.
        toolchain: Where the compilers are.
        overrides: Whether a register limit must override the entry's own directives.
        opaque: NVIDIA's own controls files by name.
    """

    kernel: Kernel
    space: Space
    toolchain: Toolchain
    overrides: bool
    opaque: Mapping[str, bytes]

    @property
    def baseline(self) -> Code:
        """The plain build, exactly as the user's options say it."""
        return self.code_of(self.space.default)

    @property
    def known_bad(self) -> Code:
        """A build that must differ from the plain one, or controls do not reach ptxas."""
        changed = {**_as_mapping(self.kernel.options), "opt-level": "0"}
        return Code(self.baseline.compiler, normal_form(_as_options(changed)).options)

    def code_of(self, config: Config) -> Code:
        """What the compiler is told for a config."""
        options = _as_mapping(self.kernel.options)
        for control in self.space.controls:
            if control.option:
                _decide(options, control, config[control.name])
        if self.overrides and "maxrregcount" in options:
            options[_OVERRIDE] = None
        version = config[VERSION] if VERSION in self.space else self._plain_version
        chosen = str(config[OPAQUE]) if OPAQUE in self.space else NONE
        return Code(
            compiler=f"ptxas {version}",
            options=normal_form(_as_options(options)).options,
            opaque=self.opaque.get(chosen, b""),
        )

    @property
    def _plain_version(self) -> str:
        return self.toolchain.first("ptxas").version


def ptx_space(kernel: Kernel, toolchain: Toolchain, request: Request) -> PtxSpace:
    """Find everything that can be decided about a PTX kernel.

    Args:
        kernel: The kernel; its plain build is made by the toolchain's first ptxas.
        toolchain: The compilers; every ptxas in it that knows the architecture is a choice.
        request: Which layers and risks the user wants.

    Raises:
        KernelError: Its file has other entries.
        SpaceError: Nothing is left to decide.
    """
    module = parse(kernel.text)
    refuse_shared(kernel)
    tools = [tool for tool in toolchain.all("ptxas") if kernel.arch in architectures(tool)]
    controls: list[Control] = []
    conditions: list[Condition] = []
    if request.wants(Layer.PTXAS):
        controls, conditions = _ptxas_controls(kernel, module, tools, request)
    opaque = dict(request.opaque)
    if opaque and request.wants(Layer.OPAQUE) and request.allows(Risk.UNPROVEN):
        controls.append(_opaque_control(tuple(opaque)))
    if not controls:
        raise SpaceError(
            f"{kernel.entry}: nothing is left to decide with these layers and risks; "
            "try --layers ptxas, or --allow"
        )
    return PtxSpace(
        kernel=kernel,
        space=Space(tuple(controls), tuple(conditions)),
        toolchain=Toolchain(tuple(tools)),
        overrides=_has_block_size(module, kernel.entry),
        opaque=opaque,
    )


def _ptxas_controls(
    kernel: Kernel, module: Module, tools: Sequence[Tool], request: Request
) -> tuple[list[Control], list[Condition]]:
    versions = tuple(tool.version for tool in tools)
    known = {tool.version: ptxas_options(tool) for tool in tools}
    controls: list[Control] = [version_control(versions)] if len(versions) > 1 else []
    conditions: list[Condition] = []
    for catalogued in PTXAS:
        if not _applies(catalogued, kernel, module):
            continue
        having = tuple(v for v in versions if _needs(catalogued, kernel, module) <= known[v])
        kept = within_risk(_with_plain_default(catalogued, kernel), request)
        if kept is None or versions[0] not in having:
            continue
        controls.append(kept)
        if len(having) < len(versions):
            conditions.append(Condition(kept.name, VERSION, having))
    names = {control.name for control in controls}
    if names >= REGISTER_LIMITS:  # ptxas ignores minnctapersm beside maxrregcount
        conditions.append(Condition("ptxas.minnctapersm", _MAX_REGISTERS, (NONE,)))
    return controls, conditions


def _needs(control: Control, kernel: Kernel, module: Module) -> set[str]:
    needed = {_option_name(control)}
    if control.name == _MAX_REGISTERS and _has_block_size(module, kernel.entry):
        needed.add(_OVERRIDE)
    return needed


def _applies(control: Control, kernel: Kernel, module: Module) -> bool:
    """Whether a control may be used on this entry at all (design: what may move)."""
    entry = module.entry(kernel.entry)
    if control.name in REGISTER_LIMITS and uses_setmaxnreg(entry):
        return False
    if control.name == "ptxas.minnctapersm":
        # Without a block size the option means nothing; with the directive it is ignored.
        return _has_block_size(module, kernel.entry) and entry.minnctapersm is None
    if control.name == FLOAT_ATOMICS:
        return "atom." in entry.text or "red." in entry.text
    return True


def _has_block_size(module: Module, entry: str) -> bool:
    function = module.entry(entry)
    return bool(function.maxntid or function.reqntid)


def _with_plain_default(control: Control, kernel: Kernel) -> Control:
    """The control with the plain build's value as its default."""
    options = _as_mapping(kernel.options)
    name = _option_name(control)
    if name not in options:
        return control
    value = _typed(control, options[name])
    domain = control.domain
    assert isinstance(domain, Choice)
    if value not in domain.values:
        domain = Choice((value, *domain.values), domain.usual + 1, domain.is_ordered)
    return replace(control, domain=domain, default=value)


def _typed(control: Control, text: str | None) -> Value:
    if text is None:
        return True
    for number in range(control.domain.size):
        if str(control.domain.at(number)) == text:
            return control.domain.at(number)
    return int(text) if text.isdecimal() else text


def _decide(options: dict[str, str | None], control: Control, value: Value) -> None:
    name = _option_name(control)
    options.pop(name, None)
    if value is True:
        options[name] = None
    elif value is not False and value != NONE:
        options[name] = str(value)


def _option_name(control: Control) -> str:
    return control.option.removeprefix("--").partition("=")[0]


def _opaque_control(names: tuple[str, ...]) -> Control:
    return Control(
        name=OPAQUE,
        layer=Layer.OPAQUE,
        domain=Choice((NONE, *names)),
        default=NONE,
        risk=Risk.UNPROVEN,
        meaning="One of NVIDIA's own controls files that the user gave; passed on unread.",
        source="ptxas --help (--apply-controls)",
        riskier=((NONE, Risk.EXACT),),
    )


def _as_mapping(options: Sequence[str]) -> dict[str, str | None]:
    pairs = (option.removeprefix("--").partition("=") for option in options)
    return {name: (value if mark else None) for name, mark, value in pairs}


def _as_options(options: Mapping[str, str | None]) -> tuple[str, ...]:
    return tuple(
        f"--{name}" if value is None else f"--{name}={value}" for name, value in options.items()
    )

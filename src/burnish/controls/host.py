"""The controls of gcc: what its ``--help`` lists, less what is no decision about code.

Usual ones come first, in the order in which they are worth trying; then everything else, whose
values all count as exotic. Options of the processor are taken only where this one understands
them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from burnish.controls.host_help import Listed, is_enabled, listed, states_of
from burnish.controls.host_known import BLOCKED, BLOCKED_PARAMS, RISKS, USUAL
from burnish.controls.host_target import MACHINES, Machine
from burnish.model.control import Choice, Control, Layer, Risk, Value

__all__ = ["CONTRACT", "DEFAULT", "LEVEL", "OFF", "ON", "Listing", "fuses", "host_controls"]

DEFAULT = "default"
ON = "on"
OFF = "off"
LEVEL = "host.opt-level"
CONTRACT = "host.fp-contract"

_OPTIMIZE = "https://gcc.gnu.org/onlinedocs/gcc/Optimize-Options.html"
_ENABLED, _DISABLED = "[enabled]", "[disabled]"
_LEVELS = ("3", "2", "1", "s", "z", "fast")
_USUAL_LEVELS = {"3", "2"}
_ALIGNMENTS = ("1", "16", "32", "64")
_FEW = 8
_SPREAD = (0, 1, 2, 4, 8, 16, 64, 256)  # around a default that says nothing
_FACTORS = (0.25, 0.5, 2.0, 4.0, 16.0)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a gcc prints about its options.

    Attributes:
        meanings: ``gcc --help=optimizers --help=params --help=target``.
        states: The same with ``-Q`` after the plain build's options.
        native: The same with ``-Q -march=native`` (or ``-mcpu=native``) after them.
        levels: The same for each portable level of the architecture, by its name.
        machine: The architecture, as ``uname -m`` says it.
    """

    meanings: str
    states: str
    native: str
    levels: Mapping[str, str]
    machine: str


def host_controls(listing: Listing, level: str) -> tuple[Control, ...]:
    """Make the controls: usual ones first.

    Args:
        listing: What gcc prints.
        level: The plain build's level: ``0`` to ``3``, ``s``, ``fast`` …
    """
    found = {control.name: control for control in _controls(listing, level)}
    first = [f"host.{name}" for name in USUAL if f"host.{name}" in found]
    rest = [name for name in found if name not in first]
    return tuple(found[name] for name in (*first, *rest))


def fuses(listing: Listing) -> bool:
    """Whether the plain build may already use operations that multiply and add at once."""
    machine = MACHINES.get(listing.machine)
    if machine is None or not machine.fused:
        return True
    return any(is_enabled(listing.states, name) for name in machine.fused)


def _controls(listing: Listing, level: str) -> Iterator[Control]:
    options = listed(listing.meanings, listing.states)
    yield _level_control(level)
    machine = MACHINES.get(listing.machine)
    if machine is not None:
        yield from _machine_controls(machine, listing, options)
    for option in options:
        name, values = _name(option), _values(option)
        if option.flag.startswith(("-f", "--param=")) and values and not _is_blocked(option):
            risk = {CONTRACT: Risk.ROUNDING}.get(f"host.{name}", RISKS.get(name, Risk.EXACT))
            control = _control(option, values, _OPTIMIZE, risk)
            yield _contract(control, listing) if control.name == CONTRACT else control


def _name(option: Listed) -> str:
    if option.flag.startswith("--param="):
        return f"param.{option.flag.removeprefix('--param=').removesuffix('=')}"
    return option.flag.removeprefix("-").removeprefix("f").removesuffix("=")


def _is_blocked(option: Listed) -> bool:
    name = _name(option)
    is_alias = option.state.startswith("-") and not option.state[1:].isdecimal()
    others = option.flag.startswith(("-fno-", "-fgstatement")) or "available in" in option.state
    is_foreign = name.startswith(tuple(f"param.{prefix}" for prefix in BLOCKED_PARAMS))
    return name in BLOCKED or is_alias or others or is_foreign


def _values(option: Listed) -> tuple[str, ...]:
    """What an option may be told, beside nothing; empty where nobody knows."""
    if option.is_switch:
        return _switch_values(option.state)
    if option.values:
        return tuple(value for value in option.values if value != option.state)
    if option.flag.startswith("-falign-"):
        return _ALIGNMENTS
    if option.bounds or option.state.removeprefix("-").isdecimal():
        return tuple(map(str, _numbers(option)))
    return ()


def _switch_values(state: str) -> tuple[str, ...]:
    if state == _ENABLED:
        return (OFF,)
    return (ON,) if state == _DISABLED else (ON, OFF)


def _numbers(option: Listed) -> list[int]:
    """Numbers near the default, the nearest first; all of them where there are few."""
    low, high = option.bounds or (0, 2**31 - 1)
    default = int(option.state) if option.state.removeprefix("-").isdecimal() else low
    around = [round(default * factor) for factor in _FACTORS] if default > 1 else list(_SPREAD)
    if high - low < _FEW:
        around = list(range(low, high + 1))
    fitting = {min(max(number, low), high) for number in around} - {default}
    return sorted(fitting, key=lambda number: (abs(number - default), number))


def _control(option: Listed, values: tuple[str, ...], source: str, risk: Risk) -> Control:
    name = _name(option)
    usual = len(values) + 1 if name in USUAL else 1
    return Control(
        name=f"host.{name}",
        layer=Layer.HOST,
        domain=Choice((DEFAULT, *values), usual),
        default=DEFAULT,
        risk=risk,
        meaning=USUAL.get(name) or option.meaning or "gcc does not say.",
        source=source,
        option=option.flag if option.is_switch else f"{option.flag}{{}}",
        riskier=() if risk is Risk.EXACT else ((DEFAULT, Risk.EXACT),),
    )


def _contract(control: Control, listing: Listing) -> Control:
    """Without fused operations in the plain build, keeping them out changes no bit."""
    exact: tuple[Value, ...] = (DEFAULT,) if fuses(listing) else (DEFAULT, OFF)
    return replace(control, riskier=tuple((value, Risk.EXACT) for value in exact))


def _level_control(level: str) -> Control:
    others = [value for value in _LEVELS if value != level]
    usual = [value for value in others if value in _USUAL_LEVELS]
    exotic = [value for value in others if value not in _USUAL_LEVELS]
    inexact = others if level == "fast" else ["fast"]
    return Control(
        name=LEVEL,
        layer=Layer.HOST,
        domain=Choice((level, *usual, *exotic), 1 + len(usual)),
        default=level,
        risk=Risk.EXACT,
        meaning=USUAL["opt-level"],
        source=_OPTIMIZE,
        option="-O{}",
        riskier=tuple((value, Risk.ROUNDING) for value in inexact if value != level),
    )


def _machine_controls(
    machine: Machine, listing: Listing, options: tuple[Listed, ...]
) -> Iterator[Control]:
    known = {option.flag: option for option in options}
    can = {flag for flag, state in states_of(listing.native).items() if state == _ENABLED}
    if f"-{machine.isa}=" in known:
        levels = [level for level in machine.levels if _runs(listing.levels.get(level, ""), can)]
        values = ("native", *levels)
        yield _control(known[f"-{machine.isa}="], values, machine.source, Risk.EXACT)
    for flag in (f"-{name}" for name in machine.extensions):
        if flag in known and known[flag].state == _DISABLED and flag in can:
            yield _control(known[flag], (ON,), machine.source, Risk.EXACT)
    tuned_for = tuple(value for value in machine.tuned_for if _takes(listing, "-mtune=", value))
    for name, offered in {**machine.values, "mtune": tuned_for}.items():
        values = tuple(value for value in offered if _fits(name, value, can))
        if f"-{name}=" in known and values:
            risk = RISKS.get(name, Risk.EXACT)
            yield _control(known[f"-{name}="], values, machine.source, risk)
    for name in machine.switches:
        if f"-{name}" in known:
            values = _switch_values(known[f"-{name}"].state)
            risk = RISKS.get(name, Risk.EXACT)
            yield _control(known[f"-{name}"], values, machine.source, risk)


def _runs(states: str, can: set[str]) -> bool:
    """Whether this processor has all that a level asks for."""
    asked = {flag for flag, state in states_of(states).items() if state == _ENABLED}
    return bool(asked) and asked <= can


def _takes(listing: Listing, flag: str, value: str) -> bool:
    """Whether gcc lists the value among those of an option."""
    _, found, after = listing.meanings.partition(f"Known valid arguments for {flag}")
    lines = after.splitlines()
    return bool(found) and (value == "native" or value in (lines[1].split() if lines[1:] else ()))


def _fits(name: str, value: str, can: set[str]) -> bool:
    """Whether a vector width is one that this processor has."""
    needed = {"256": "-mavx", "512": "-mavx512f"}.get(value)
    is_width = name in {"mprefer-vector-width", "mmove-max", "mstore-max"}
    return not is_width or needed is None or needed in can

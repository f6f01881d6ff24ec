"""Writes an ACF: always in the same order, made to be read in a review."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from burnish.acf.atomic import write_whole
from burnish.acf.model import (
    FORMAT,
    Acf,
    Evidence,
    Launch,
    Shape,
    Tuned,
    TunedCode,
    WorkloadEvidence,
)
from burnish.acf.payload import encode, pack
from burnish.acf.read import read
from burnish.errors import AcfError, InternalError
from burnish.model.control import Value

__all__ = ["dump", "save"]

_WIDTH = 100
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_INTEGRAL = 2**53
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}

# What a key can hold: values, lists, and tables that stay on the line.
_Item = Value | Iterable["_Item"] | Mapping[str, "_Item"]


def dump(acf: Acf) -> str:
    """The text of an ACF. `read` gives back what was put in.

    Raises:
        AcfError: Something in it is out of the format's bounds.
        InternalError: The text would not say what the ACF says.
    """
    lines = [f'format = "{FORMAT}"']
    lines += ["strict = true"] * acf.strict
    for tuned in acf.tuned:
        lines += ["", "[[tuned]]", *_block(tuned)]
    text = "\n".join(lines) + "\n"
    try:
        text.encode()
    except UnicodeEncodeError:
        raise AcfError("an ACF holds text that is no Unicode (a lone surrogate)") from None
    if read(text, "the ACF to be written") != acf:
        raise InternalError("an ACF that was written reads differently; please report it")
    return text


def save(acf: Acf, path: Path) -> None:
    """Write an ACF to a file, which is there whole or not at all.

    Raises:
        AcfError: The file cannot be written.
    """
    try:
        write_whole(path, dump(acf).encode())
    except OSError as error:
        raise AcfError(f"{path}: cannot be written: {error.strerror}") from None


def _block(tuned: Tuned) -> Iterator[str]:
    yield _line("key", tuned.key)
    yield _line("entry", tuned.entry)
    yield _line("arch", tuned.arch)
    yield _line("baseline_compiler", tuned.baseline_compiler)
    yield _line("baseline_options", tuned.baseline_options)
    if tuned.disjoint:
        yield _line("requires", {"disjoint": tuned.disjoint})
    if tuned.shapes:
        yield _line("shapes", [_shape(shape) for shape in tuned.shapes])
    if tuned.launch is not None:
        yield from ("", "[tuned.launch]", *_launch(tuned.launch))
    yield from ("", "[tuned.code]", *_code(tuned.code))
    if tuned.controls:
        yield from ("", "[tuned.controls]")
        yield from (_line(name, value) for name, value in tuned.controls.items())
    if tuned.evidence is not None:
        yield from ("", "[tuned.evidence]", *_evidence(tuned.evidence))


def _shape(shape: Shape) -> dict[str, _Item]:
    axes = zip(("grid_x", "grid_y", "grid_z"), shape.grid, strict=True)
    table: dict[str, _Item] = {axis: span for axis, span in axes if span is not None}
    if shape.scalars:
        table["scalars"] = {str(place): span for place, span in shape.scalars}
    return table


def _launch(launch: Launch) -> Iterator[str]:
    if launch.warps is not None:
        yield _line("warps", launch.warps)
    if launch.shared_bytes is not None:
        yield _line("shared_bytes", launch.shared_bytes)
    if launch.cluster is not None:
        yield _line("cluster", launch.cluster)
    if launch.scratch is not None:
        yield _line("scratch", launch.scratch)


def _code(code: TunedCode) -> Iterator[str]:
    yield _line("compiler", code.compiler)
    yield _line("options", code.options)
    if code.binary_sha256:
        yield _line("binary_sha256", code.binary_sha256)
    # Single quotes: tomllib reads such a string at once, and others character by character.
    if code.ptx:
        yield f"ptx = '{pack(code.ptx)}'"
    if code.opaque:
        yield f"opaque = '{encode(code.opaque)}'"


def _evidence(evidence: Evidence) -> Iterator[str]:
    yield _line("verdict", evidence.verdict)
    yield _line("metric", evidence.metric)
    yield _line("baseline", _figure(evidence.baseline))
    yield _line("tuned", _figure(evidence.tuned))
    if evidence.ratio is not None and evidence.interval is not None:
        yield _line("ratio", evidence.ratio)
        yield _line("interval", evidence.interval)
    if evidence.figures:
        pairs = evidence.figures.items()
        figures = {metric: [_figure(figure) for figure in pair] for metric, pair in pairs}
        yield _line("figures", figures)
    if evidence.workloads:
        yield _line("workloads", [_workload(item) for item in evidence.workloads])
    for key in ("rounds", "regime", "device", "driver", "reason", "date", "study", "burnish"):
        value: Value = getattr(evidence, key)
        if value:
            yield _line(key, value)


def _workload(workload: WorkloadEvidence) -> dict[str, _Item]:
    table: dict[str, _Item] = {"name": workload.name}
    table |= {"ratio": workload.ratio, "interval": workload.interval}
    return {**table, "held_out": True} if workload.held_out else table


def _figure(value: float) -> float | int:
    """Figures such as registers read better without a point; the reader makes them floats."""
    return int(value) if float(value).is_integer() and abs(value) < _INTEGRAL else value


def _line(key: str, value: _Item) -> str:
    """A key and its value: lists that are too long for a line take one for each element."""
    line = f"{_key(key)} = {_value(value)}"
    if len(line) <= _WIDTH or not isinstance(value, list | tuple):
        return line
    elements = "".join(f"  {_value(element)},\n" for element in value)
    return f"{_key(key)} = [\n{elements}]"


def _key(key: str) -> str:
    return key if key and all(letter in _PLAIN for letter in key) else _quoted(key)


def _value(value: _Item) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(item)}' for key, item in value.items())} }}"
    return f"[{', '.join(_value(element) for element in value)}]"


def _quoted(text: str) -> str:
    return f'"{"".join(_escaped(letter) for letter in text)}"'


def _escaped(letter: str) -> str:
    if letter < " " or letter == "\x7f":
        return _ESCAPES.get(letter) or f"\\u{ord(letter):04x}"
    return _ESCAPES.get(letter, letter)

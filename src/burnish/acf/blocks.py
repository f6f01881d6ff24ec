"""One tuned block of an ACF, out of its table."""

from burnish.acf.evidence import evidence_of
from burnish.acf.fields import Table, is_number, is_whole, kind
from burnish.acf.model import Launch, Shape, Span, Tuned, TunedCode
from burnish.acf.payload import MOST_BYTES, decode, unpack
from burnish.errors import AcfError
from burnish.model.control import Value
from burnish.model.frozen import FrozenMap

__all__ = ["tuned_of"]

_COMPILER = r"[a-z][a-z0-9+_-]* [0-9][\w.+~-]*"
_MOST_PARAMETER = (1 << 12) - 1
_MOST_GRID = 2**31 - 1
_MOST_BASE64 = MOST_BYTES // 3 * 4 + 4
_AXES = ("grid_x", "grid_y", "grid_z")


def tuned_of(block: Table, *, strict: bool) -> Tuned:
    """The block that a table describes.

    Raises:
        FieldError: A key is unknown, missing, or its value cannot be.
    """
    tuned = Tuned(
        key=block.text("key", r"(ptx|c):[0-9a-f]{64}"),
        entry=block.text("entry", r"[\w$%.]+"),
        arch=block.text("arch", r"[\w.-]+"),
        baseline_compiler=block.text("baseline_compiler", _COMPILER),
        baseline_options=block.texts("baseline_options"),
        disjoint=_disjoint(block.table("requires")) if "requires" in block else (),
        shapes=tuple(_shape(shape) for shape in block.tables("shapes"))
        if "shapes" in block
        else (),
        launch=_launch(block.table("launch")) if "launch" in block else None,
        code=_code(block.table("code"), strict=strict),
        controls=_controls(block.table("controls")) if "controls" in block else FrozenMap(),
        evidence=None
        if strict and "evidence" not in block
        else evidence_of(block.table("evidence")),
    )
    block.done()
    return tuned


def _disjoint(requires: Table) -> tuple[tuple[int, int], ...]:
    pairs = tuple(_pair(requires, item) for item in requires.items("disjoint"))
    requires.done()
    if not pairs:
        raise requires.fault("disjoint", "has no pair; leave 'requires' out instead")
    return pairs


def _pair(requires: Table, item: object) -> tuple[int, int]:
    match item:
        case [int() as first, int() as second] if (
            is_whole(first) and is_whole(second) and 0 <= first < second <= _MOST_PARAMETER
        ):
            return first, second
        case _:
            message = "must be a list of pairs of parameter positions, the lower one first"
            raise requires.fault("disjoint", message)


def _shape(shape: Table) -> Shape:
    grid = [_span(shape, axis, 1, _MOST_GRID) if axis in shape else None for axis in _AXES]
    scalars: list[tuple[int, Span]] = []
    if "scalars" in shape:
        table = shape.table("scalars")
        for key in table:
            if not key.isdecimal() or str(int(key)) != key or int(key) > _MOST_PARAMETER:
                raise table.fault(key, "must be the position of a parameter, from 0")
            scalars.append((int(key), _span(table, key, -(2**63) + 1, 2**63 - 1)))
    shape.done()
    if not scalars and grid == [None, None, None]:
        raise shape.fault("grid_x", "a shape without any range; leave it out instead")
    return Shape((grid[0], grid[1], grid[2]), tuple(sorted(scalars)))


def _span(table: Table, key: str, low: int, high: int) -> Span:
    first, last = table.wholes(key, 2, low, high)
    if first > last:
        raise table.fault(key, f"[{first}, {last}] holds nothing: the lower bound comes first")
    return first, last


def _launch(table: Table) -> Launch:
    launch = Launch(
        warps=table.whole("warps", 1, 64) if "warps" in table else None,
        shared_bytes=table.whole("shared_bytes", 0, 2**31 - 1) if "shared_bytes" in table else None,
        cluster=_cluster(table) if "cluster" in table else None,
        scratch=_scratch(table) if "scratch" in table else None,
    )
    table.done()
    if launch == Launch():
        raise table.fault("warps", "nothing changes here; leave 'launch' out instead")
    return launch


def _cluster(table: Table) -> tuple[int, int, int]:
    x, y, z = table.wholes("cluster", 3, 1, 64)
    return x, y, z


def _scratch(table: Table) -> tuple[int, int]:
    size, alignment = table.wholes("scratch", 2, 0)
    if alignment < 1 or alignment & (alignment - 1):
        raise table.fault("scratch", f"the alignment {alignment} is no power of two")
    return size, alignment


def _code(table: Table, *, strict: bool) -> TunedCode:
    digest = ""
    if "binary_sha256" in table or not strict:
        digest = table.text("binary_sha256", r"[0-9a-f]{64}")
    code = TunedCode(
        compiler=table.text("compiler", _COMPILER),
        options=table.texts("options"),
        binary_sha256=digest,
        ptx=_ptx(table) if "ptx" in table else "",
        opaque=_opaque(table) if "opaque" in table else b"",
    )
    table.done()
    return code


def _ptx(table: Table) -> str:
    packed = table.text("ptx", most=_MOST_BASE64)
    try:
        text = unpack(packed)
    except AcfError as error:
        raise table.fault("ptx", str(error)) from None
    if not text:
        raise table.fault("ptx", "unpacks to nothing; leave it out instead")
    return text


def _opaque(table: Table) -> bytes:
    try:
        return decode(table.text("opaque", most=_MOST_BASE64))
    except AcfError as error:
        raise table.fault("opaque", str(error)) from None


def _controls(table: Table) -> FrozenMap[Value]:
    controls: dict[str, Value] = {}
    for name in table:
        value = table.take(name)
        if isinstance(value, dict):
            raise table.fault(name, "must be a value; a control's name with dots needs quotes")
        if not isinstance(value, bool | str) and not is_number(value):
            raise table.fault(
                name, f"must be true, false, a finite number or a string, not {kind(value)}"
            )
        assert isinstance(value, bool | int | float | str)
        controls[name] = value
    return FrozenMap(controls)

"""A workload: one set of arguments and a launch shape, with a weight."""

from dataclasses import dataclass, field
from enum import StrEnum

from burnish.model.frozen import FrozenMap

__all__ = ["Argument", "Buffer", "Bytes", "Role", "Scalar", "Workload"]


class Role(StrEnum):
    """What a launch does to a buffer."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory that the kernel gets a pointer to.

    Attributes:
        name: For people and for views; unique in the workload.
        dtype: Element type: ``f64 f32 f16 bf16 f8e4m3 f8e5m2 i8 … i64 u8 … u64 bool``.
        shape: Elements along each axis, slowest first.
        role: Whether the launch reads it, writes it or both.
        fill: How its contents are made, such as ``normal`` or ``integers(0, 99)``.
        strides: Elements between neighbours along each axis; empty for a dense buffer.
        view_of: Name of the buffer whose memory this one shares, with ``offset`` elements.
        offset: Elements of this buffer's dtype into the memory that it views.
        tolerance: Allowed relative error where bits may differ; None for the rule of `verify`.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: Role = Role.IN
    fill: str = ""
    strides: tuple[int, ...] = ()
    view_of: str = ""
    offset: int = 0
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number passed by value."""

    name: str
    dtype: str
    value: float | int | bool  # house: unit is the kernel's own


@dataclass(frozen=True, slots=True)
class Bytes:
    """A struct passed by value, as raw bytes; ``pointers`` are (byte offset, buffer name)."""

    name: str
    data: bytes
    pointers: tuple[tuple[int, str], ...] = ()


Argument = Buffer | Scalar | Bytes


@dataclass(frozen=True, slots=True)
class Workload:
    """One set of arguments and a launch shape.

    Attributes:
        name: For people; unique in the kernel.
        arguments: In the order of the entry's parameters.
        weight: Share of the kernel's use, relative to the other workloads.
        held_out: Whether it is kept from the search and only judged at the end.
        grid: Blocks along x, y, z; unused on the host.
        block: Threads along x, y, z; unused on the host.
        cluster: Blocks a cluster along x, y, z; all 1 for none.
        dynamic_shared_bytes: Dynamic shared memory a block.
        cooperative: Whether the launch is cooperative.
        globals: Initial values of module globals, by symbol.
        moved_bytes: Bytes that a launch must move at least, for figures such as GB/s; None
            where nobody said.
        operations: Arithmetic operations of a launch, for figures such as GFLOP/s.
    """

    name: str
    arguments: tuple[Argument, ...]
    weight: float = 1.0
    held_out: bool = False
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    cluster: tuple[int, int, int] = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    cooperative: bool = False
    globals: FrozenMap[bytes] = field(default_factory=FrozenMap)
    moved_bytes: int | None = None
    operations: int | None = None

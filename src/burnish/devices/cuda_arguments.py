"""A workload's arguments as the bytes that a launch takes, checked against the binary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.bundle.dtypes import dtype, pack
from burnish.devices.cuda_program import CudaProgram
from burnish.errors import LaunchError
from burnish.model.workload import Argument, Buffer, Bytes, Scalar

__all__ = ["Packed", "packed", "require_match"]

_POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Packed:
    """An argument as bytes."""

    name: str
    value: bytes


def packed(arguments: Sequence[Argument], address: Callable[[str], int]) -> tuple[Packed, ...]:
    """Pack arguments; ``address`` says where a buffer's data begins."""
    return tuple(Packed(one.name, _value(one, address)) for one in arguments)


def _value(argument: Argument, address: Callable[[str], int]) -> bytes:
    if isinstance(argument, Buffer):
        return address(argument.name).to_bytes(_POINTER_BYTES, "little")
    if isinstance(argument, Scalar):
        return pack(argument.value, dtype(argument.dtype))
    return _struct(argument, address)


def _struct(argument: Bytes, address: Callable[[str], int]) -> bytes:
    data = bytearray(argument.data)
    for offset, name in argument.pointers:
        if not 0 <= offset <= len(data) - _POINTER_BYTES:
            raise LaunchError(f"{argument.name}: a pointer at byte {offset} of {len(data)}")
        data[offset : offset + _POINTER_BYTES] = address(name).to_bytes(_POINTER_BYTES, "little")
    return bytes(data)


def require_match(
    arguments: Sequence[Argument], values: Sequence[Packed], program: CudaProgram
) -> None:
    """Check arguments against the parameters of a binary.

    Buffers that come after the last parameter are memory that only structs point to.

    Raises:
        LaunchError: Their number or a size is wrong; the driver would read past an argument.
    """
    expected = program.parameters
    if expected is None:
        return
    spare = arguments[len(expected) :]
    if len(values) < len(expected) or not all(isinstance(one, Buffer) for one in spare):
        raise LaunchError(
            f"{program.entry} takes {len(expected)} arguments, the launch file gives {len(values)}"
        )
    for number, (one, (_, size)) in enumerate(zip(values, expected, strict=False)):
        if len(one.value) != size:
            raise LaunchError(
                f"argument {number} of {program.entry} ({one.name}) has {len(one.value)} bytes, "
                f"its parameter {size}"
            )

"""A workload's arguments as a C function takes them."""

import ctypes
from collections.abc import Callable, Sequence

from burnish.bundle.dtypes import dtype, pack
from burnish.errors import LaunchError
from burnish.model.workload import Argument, Buffer, Bytes, Scalar

__all__ = ["c_arguments"]

_SCALARS = {
    "f64": ctypes.c_double,
    "f32": ctypes.c_float,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8,
    "u16": ctypes.c_uint16,
    "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64,
    "bool": ctypes.c_bool,
}
_POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
# Calling conventions hand over a struct of at most two registers in registers whose kind
# depends on its fields (System V ABI for x86-64, 3.2.3), and bytes do not say what they are.
_REGISTERS_BYTES = 16


def c_arguments(arguments: Sequence[Argument], address: Callable[[str], int]) -> tuple[object, ...]:
    """Make C values of arguments.

    Args:
        arguments: In the order of the function's parameters.
        address: Where the data of a buffer begins.

    Raises:
        LaunchError: A value that cannot be handed to a C function.
    """
    return tuple(_value(one, address) for one in arguments)


def _value(argument: Argument, address: Callable[[str], int]) -> object:
    if isinstance(argument, Buffer):
        return ctypes.c_size_t(address(argument.name))
    if isinstance(argument, Scalar):
        return _scalar(argument)
    return _struct(argument, address)


def _scalar(scalar: Scalar) -> object:
    if scalar.dtype not in _SCALARS:
        raise LaunchError(
            f"{scalar.name}: a C function takes no {scalar.dtype} by value here; "
            f"these can be: {', '.join(_SCALARS)}"
        )
    return _SCALARS[scalar.dtype].from_buffer_copy(pack(scalar.value, dtype(scalar.dtype)))


def _struct(struct: Bytes, address: Callable[[str], int]) -> object:
    data = bytearray(struct.data)
    for offset, name in struct.pointers:
        if not 0 <= offset <= len(data) - _POINTER_BYTES:
            raise LaunchError(f"{struct.name}: a pointer at byte {offset} of {len(data)}")
        data[offset : offset + _POINTER_BYTES] = address(name).to_bytes(_POINTER_BYTES, "little")
    if len(data) <= _REGISTERS_BYTES and not _is_all_pointers(struct):
        raise LaunchError(
            f"{struct.name}: a struct of {len(data)} bytes by value: whether its fields are whole "
            "numbers or floats decides how it is passed, and bytes do not say; pass scalars"
        )
    return _structure(len(data)).from_buffer_copy(data)


def _is_all_pointers(struct: Bytes) -> bool:
    offsets = {offset for offset, _ in struct.pointers}
    return offsets == set(range(0, len(struct.data), _POINTER_BYTES))


def _structure(size: int) -> type[ctypes.Structure]:
    class Opaque(ctypes.Structure):
        _fields_ = [
            ("words", ctypes.c_uint64 * (size // 8)),
            ("rest", ctypes.c_uint8 * (size % 8)),
        ]

    return Opaque

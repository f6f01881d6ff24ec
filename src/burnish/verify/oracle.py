"""The user's own reference: ``--reference MODULE:FUNCTION``, computed in float64.

The function gets one mapping: the name of every argument that has contents before the
launch to its value. Buffers are numpy arrays in their shape, floats of any width as
float64; scalars are numbers, rounded to their type as the kernel gets them; structs are
bytes. It returns the contents after the launch: a mapping of the written buffers' names to
arrays, or one array where a single buffer is written.
"""

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import DTYPES, Array, decode, pack
from burnish.bundle.layout import buffers, extent, offset_bytes, shaped
from burnish.errors import LaunchError, UsageError
from burnish.model.workload import Buffer, Role, Scalar, Workload

__all__ = ["Reference", "Value", "ask", "load_reference", "values_of"]

Value: TypeAlias = "Array | float | int | bool | bytes"
Reference: TypeAlias = Callable[[Mapping[str, Value]], object]


def load_reference(spec: str, folder: Path) -> Reference:
    """The function that ``MODULE:FUNCTION`` means.

    Args:
        spec: As given on the command line.
        folder: Where modules are looked for first: the folder that the user is in.

    Raises:
        UsageError: There is no such module or function.
    """
    module, _, name = spec.partition(":")
    if not module or not name:
        raise UsageError(f"--reference {spec!r}: say MODULE:FUNCTION, such as check:stencil")
    path = str(folder)
    sys.path.insert(0, path)
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        raise UsageError(f"--reference {spec}: {error} (looked in {folder} first)") from None
    finally:
        sys.path.remove(path)
    function = getattr(loaded, name, None)
    if not callable(function):
        raise UsageError(f"--reference {spec}: module {module!r} has no function {name!r}")
    return cast("Reference", function)


def values_of(workload: Workload, memories: Mapping[str, Array]) -> dict[str, Value]:
    """What a reference gets.

    Args:
        workload: The workload.
        memories: Memory of every root that has contents, as `make_inputs` makes them.
    """
    result: dict[str, Value] = {}
    for argument in workload.arguments:
        if isinstance(argument, Scalar):
            kind = DTYPES[argument.dtype]
            stored: Array = np.frombuffer(pack(argument.value, kind), kind.stored)
            is_float = kind.kind == "float"
            result[argument.name] = float(decode(stored, kind)[0]) if is_float else argument.value
        elif isinstance(argument, Buffer):
            memory = memories.get(argument.view_of or argument.name)
            if memory is not None and argument.role is not Role.OUT:
                result[argument.name] = _shown(argument, memory)
        else:
            result[argument.name] = argument.data
    return result


def ask(
    reference: Reference, workload: Workload, values: Mapping[str, Value]
) -> dict[str, NDArray[np.float64]]:
    """The right contents of every written buffer, in its shape.

    Raises:
        LaunchError: The reference raised, or left a buffer or its shape out.
    """
    wanted = [buffer for buffer in buffers(workload) if buffer.role is not Role.IN]
    own = {name: _copy(value) for name, value in values.items()}
    try:
        answer = reference(own)
    except Exception as error:  # the user's code: anything may come, and the message names it
        raise LaunchError(
            f"the reference raised on workload {workload.name!r}: {type(error).__name__}: {error}"
        ) from error
    if isinstance(answer, Mapping):
        given = {str(name): value for name, value in answer.items()}
    elif len(wanted) == 1:
        given = {wanted[0].name: answer}
    else:
        names = ", ".join(buffer.name for buffer in wanted)
        raise LaunchError(f"the reference returned no mapping; needed are: {names}")
    return {buffer.name: _answer(buffer, given) for buffer in wanted}


def _shown(buffer: Buffer, memory: Array) -> Array:
    kind = DTYPES[buffer.dtype]
    raw = memory.view(np.uint8)[offset_bytes(buffer) :]
    elements = shaped(raw[: extent(buffer) * kind.size].view(kind.stored), buffer)
    if kind.kind == "float":
        return decode(elements, kind)
    return elements.astype(np.bool_) if kind.kind == "bool" else elements


def _copy(value: Value) -> Value:
    return value.copy() if isinstance(value, np.ndarray) else value


def _answer(buffer: Buffer, answer: Mapping[str, object]) -> NDArray[np.float64]:
    if buffer.name not in answer:
        given = ", ".join(answer) or "nothing"
        raise LaunchError(f"the reference says nothing of buffer {buffer.name!r}; it has: {given}")
    try:
        values: NDArray[np.float64] = np.asarray(answer[buffer.name], np.float64)
    except (TypeError, ValueError) as error:
        raise LaunchError(f"the reference's {buffer.name!r} is no array: {error}") from None
    if values.size == 1:
        return np.broadcast_to(values.reshape(()), buffer.shape)
    if values.shape != buffer.shape:
        raise LaunchError(
            f"the reference's {buffer.name!r} has the shape {list(values.shape)}, not "
            f"{list(buffer.shape)}"
        )
    return values

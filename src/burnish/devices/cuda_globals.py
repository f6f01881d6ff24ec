"""Initial values of a module's globals, set again before every launch."""

from collections.abc import Mapping

import numpy as np

from burnish.devices.cuda_memory import Memory
from burnish.devices.cuda_program import CudaProgram
from burnish.devices.cuda_stream import Stream
from burnish.errors import LaunchError

__all__ = ["Globals"]


class Globals:
    """Values by symbol, kept on the card, so that setting them waits for nothing."""

    def __init__(self, stream: Stream, memory: Memory, values: Mapping[str, bytes]) -> None:
        self._stream = stream
        self._memory = memory
        self._blocks = {symbol: memory.allocate(len(value)) for symbol, value in values.items()}
        for symbol, value in values.items():
            stream.send(self._blocks[symbol].address, np.frombuffer(value, np.uint8))

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def set(self, program: CudaProgram) -> None:
        """Queue the setting of a program's globals.

        Raises:
            DeviceError: The program lacks one.
            LaunchError: A value is larger than its global.
        """
        for symbol, block in self._blocks.items():
            address, size_bytes = program.global_at(symbol)
            if block.image_bytes > size_bytes:
                raise LaunchError(
                    f"global {symbol} of {program.entry} has {size_bytes} bytes, "
                    f"its value {block.image_bytes}"
                )
            self._stream.copy(address, block.address, block.image_bytes)

    def close(self) -> None:
        """Give the memory back."""
        for block in self._blocks.values():
            self._memory.free(block)

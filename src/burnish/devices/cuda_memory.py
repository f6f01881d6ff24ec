"""Memory of the card, in blocks that hold one image each."""

from dataclasses import dataclass

from cuda.bindings import driver

from burnish.devices.cuda_driver import done, number
from burnish.devices.cuda_stream import Stream
from burnish.errors import DeviceError

__all__ = ["Block", "Memory"]

_ALIGNED_BYTES = 256
_SPARE_BYTES = 1 << 29  # left to the driver: code, local memory, the stack of a fault handler


@dataclass(frozen=True, slots=True)
class Block:
    """One allocation.

    Attributes:
        start: Where the allocation begins.
        shift_bytes: Zeros before the image, so that its data is aligned.
        image_bytes: Size of the image.
    """

    start: int
    shift_bytes: int
    image_bytes: int

    @property
    def address(self) -> int:
        """Where the image begins."""
        return self.start + self.shift_bytes

    @property
    def total_bytes(self) -> int:
        """Size of the allocation."""
        return self.shift_bytes + self.image_bytes


class Memory:
    """Every block that is allocated, so that none is forgotten."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._blocks: set[Block] = set()

    def free_bytes(self) -> int:
        """What is left on the card, without what the driver needs to work."""
        result = driver.cuMemGetInfo()
        return max(0, number("asking for free memory", result) - _SPARE_BYTES)

    def allocate(self, image_bytes: int, data_offset: int = 0) -> Block:
        """A block of zeros whose data begins at a multiple of 256 bytes.

        Raises:
            DeviceError: There is no room.
        """
        shift = -data_offset % _ALIGNED_BYTES
        size = max(1, shift + image_bytes)
        if size > self.free_bytes():
            raise DeviceError(
                f"allocating {size:,} bytes: only {self.free_bytes():,} are left on the card; "
                "make the workload smaller or end what else uses the card"
            )
        start = number(f"allocating {size:,} bytes", driver.cuMemAlloc(size))
        block = Block(start, shift, image_bytes)
        self._blocks.add(block)
        self._stream.fill(start, 0, size)
        return block

    def twin(self, block: Block) -> Block | None:
        """A block laid out like another one; None where there is no room."""
        if block.total_bytes > self.free_bytes():
            return None
        return self.allocate(block.image_bytes, -block.shift_bytes)

    def free(self, block: Block) -> None:
        """Give a block back; twice is once."""
        if block in self._blocks:
            self._blocks.discard(block)
            done("freeing memory", driver.cuMemFree(block.start))

    def close(self) -> None:
        """Give everything back; never raises: after a fault the card gives nothing back."""
        for block in self._blocks:
            driver.cuMemFree(block.start)
        self._blocks.clear()

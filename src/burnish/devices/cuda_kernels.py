"""Burnish's own kernels (`kernels.cu`): compare, digest, flush, wait."""

from importlib.resources import files

from cuda.bindings import driver

from burnish.devices.cuda_driver import made
from burnish.devices.cuda_launch import Launch, Shape
from burnish.devices.cuda_memory import Block, Memory
from burnish.devices.cuda_stream import Stream
from burnish.errors import DeviceError

__all__ = ["Kernels"]

_NAMES = ("burnish_differing", "burnish_digest", "burnish_read", "burnish_wait")
_THREADS = 256
_BLOCKS_PER_PROCESSOR = 8
_RESULT_BYTES = 16


class Kernels:
    """The kernels, loaded once a worker; the driver compiles them for the card it finds."""

    def __init__(self, stream: Stream, memory: Memory, processors: int) -> None:
        self._stream = stream
        text = files("burnish.devices").joinpath("kernels.ptx").read_bytes()
        module = made("loading Burnish's own kernels", driver.cuModuleLoadData(text + b"\0"))
        self._functions = {
            name: made(f"looking for {name}", driver.cuModuleGetFunction(module, name.encode()))
            for name in _NAMES
        }
        self._wide = Shape((_BLOCKS_PER_PROCESSOR * processors, 1, 1), (_THREADS, 1, 1))
        self._result = memory.allocate(_RESULT_BYTES)

    def differing(self, left: Block, right: Block) -> int:
        """In how many bytes two blocks of the same layout differ."""
        if (left.shift_bytes, left.image_bytes) != (right.shift_bytes, right.image_bytes):
            raise DeviceError("comparing two buffers that are laid out differently")
        self._stream.fill(self._result.start, 0, _RESULT_BYTES)
        self._run("burnish_differing", left.start, right.start, left.total_bytes)
        return int.from_bytes(self._answer()[:8], "little")

    def digest(self, block: Block) -> str:
        """A digest of a block, hex; it tells accidents apart, not attacks."""
        self._stream.fill(self._result.start, 0, _RESULT_BYTES)
        self._run("burnish_digest", block.start, block.total_bytes)
        return self._answer().hex()

    def reader(self, block: Block) -> Launch:
        """A launch that reads a block of zeros from end to end; see `flush`."""
        return self._launch(self._wide, block.start, block.total_bytes, self._result.start)

    def flush(self, reader: Launch) -> None:
        """Queue a reader: afterwards the caches hold what it read."""
        reader.queue(self._functions["burnish_read"], "flushing the caches")

    def waiter(self, cycles: int) -> Launch:
        """A launch that does nothing for that long; see `wait`."""
        return self._launch(Shape((1, 1, 1), (1, 1, 1)), cycles)

    def wait(self, waiter: Launch) -> None:
        """Queue a waiter: what is queued behind it starts without a gap."""
        waiter.queue(self._functions["burnish_wait"], "keeping the card busy")

    def _run(self, name: str, *values: int) -> None:
        launch = self._launch(self._wide, *values, self._result.start)
        launch.queue(self._functions[name], name)

    def _launch(self, shape: Shape, *values: int) -> Launch:
        return Launch(self._stream, shape, [value.to_bytes(8, "little") for value in values])

    def _answer(self) -> bytes:
        return self._stream.fetch(self._result.start, _RESULT_BYTES).tobytes()

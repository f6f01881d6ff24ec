"""A cubin on the card, ready to launch."""

from math import prod

from cuda.bindings import driver

from burnish.devices.cuda_driver import Result, done, made, number
from burnish.devices.cuda_launch import Shape
from burnish.devices.cuda_stream import Stream
from burnish.errors import DeviceError

__all__ = ["CudaProgram"]

_ELF = b"\x7fELF"
_HEADER_BYTES = 64
_PORTABLE_CLUSTER = 8


class CudaProgram:
    """A loaded binary. Closing it also forgets the graphs that were made of it.

    Attributes:
        entry: The function's name.
        function: Its handle.
        parameters: Offset and size of every parameter, where the driver can say.
        graphs: Graphs of launches, by the number of the session that made them.
        ready_for: Numbers of the sessions whose launches were checked and allowed.
    """

    def __init__(self, stream: Stream, image: bytes, entry: str) -> None:
        self.entry = entry
        self.graphs: dict[int, object] = {}
        self.ready_for: set[int] = set()
        self._allowed_bytes = 0
        self._stream = stream
        _require_whole(image, entry)
        loaded = driver.cuModuleLoadData(image + b"\0")  # text has to end in a zero
        self._module: object | None = made(f"loading {entry}", loaded)
        self._globals: dict[str, tuple[int, int]] = {}
        try:
            found = driver.cuModuleGetFunction(self._module, entry.encode())
            self.function = made(f"looking for the entry {entry}", found)
            self.parameters = _parameters(self.function)
        except DeviceError:
            self.close()
            raise

    def global_at(self, symbol: str) -> tuple[int, int]:
        """Address and size of a module's global.

        Raises:
            DeviceError: The module has none of that name.
        """
        if symbol not in self._globals:
            result = driver.cuModuleGetGlobal(self._module, symbol.encode())
            stage = f"looking for the global {symbol} of {self.entry}"
            self._globals[symbol] = number(stage, result), int(result[2])
        return self._globals[symbol]

    def allow(self, shape: Shape) -> None:
        """Ask for what a function gets only on demand. Raises DeviceError where it cannot."""
        kinds = driver.CUfunction_attribute
        if shape.dynamic_shared_bytes > self._allowed_bytes:
            kind = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            asked = driver.cuFuncSetAttribute(self.function, kind, shape.dynamic_shared_bytes)
            done(f"asking for {shape.dynamic_shared_bytes} bytes of shared memory", asked)
            self._allowed_bytes = shape.dynamic_shared_bytes
        if prod(shape.cluster) > _PORTABLE_CLUSTER:
            kind = kinds.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            asked = driver.cuFuncSetAttribute(self.function, kind, 1)
            done(f"asking for clusters of {prod(shape.cluster)} blocks", asked)

    @property
    def is_open(self) -> bool:
        """Whether it can still be launched."""
        return self._module is not None

    def close(self) -> None:
        """Unload it, once nothing that runs can be it."""
        if self._module is None:
            return
        module, self._module = self._module, None
        self._stream.wait(f"before unloading {self.entry}")
        for graph in self.graphs.values():
            driver.cuGraphExecDestroy(graph)
        self.graphs.clear()
        done(f"unloading {self.entry}", driver.cuModuleUnload(module))


def _require_whole(image: bytes, entry: str) -> None:
    """The driver is not told how long an image is: it would read past the end of a torn one."""
    if not image:
        raise DeviceError(f"loading {entry}: the image is empty")
    if not image.startswith(_ELF):
        return
    end = _HEADER_BYTES
    if len(image) >= _HEADER_BYTES:
        table = int.from_bytes(image[40:48], "little")
        end = table + int.from_bytes(image[58:60], "little") * int.from_bytes(
            image[60:62], "little"
        )
    if len(image) < end:
        raise DeviceError(f"loading {entry}: the image is torn: {len(image)} of {end} bytes")


def _parameters(function: object) -> tuple[tuple[int, int], ...] | None:
    """Offset and size of each parameter; None where the driver is too old to say."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            result: Result = driver.cuFuncGetParamInfo(function, len(found))
        except RuntimeError:  # a driver before 12.4 has no such call
            return None
        if result[0] != 0:
            return tuple(found)
        found.append((int(str(result[1])), int(str(result[2]))))

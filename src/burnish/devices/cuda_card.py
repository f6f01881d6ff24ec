"""A card in the process that owns it: its context and what all sessions share."""

from cuda.bindings import driver

from burnish.devices.cuda_driver import done, made, number
from burnish.devices.cuda_kernels import Kernels
from burnish.devices.cuda_memory import Memory
from burnish.devices.cuda_stream import Stream
from burnish.devices.cuda_timer import Timer
from burnish.errors import DeviceError

__all__ = ["Card"]

_NAME_BYTES = 256
_SPECIFIC = 9  # from compute capability 9 on, an architecture has features of its own: sm_90a


class Card:
    """The primary context of a card, one stream, and what works on them.

    Attributes:
        name: The model.
        arch: Such as ``sm_90a``.
        bus: PCI address, by which the management library knows the card.
        stream: The one stream.
        memory: Every allocation.
        kernels: Burnish's own kernels.
        timer: Times launches.
    """

    def __init__(self, ordinal: int) -> None:
        done("starting CUDA", driver.cuInit(0))
        count = number("counting devices", driver.cuDeviceGetCount())
        if not 0 <= ordinal < count:
            raise DeviceError(f"there is no CUDA device {ordinal}; this machine shows {count}")
        self._device = made("opening the device", driver.cuDeviceGet(ordinal))
        attribute = driver.CUdevice_attribute
        major = self._asked(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._asked(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.arch = f"sm_{major}{minor}{'a' if major >= _SPECIFIC else ''}"
        self.name = _text(driver.cuDeviceGetName(_NAME_BYTES, self._device))
        self.bus = _text(driver.cuDeviceGetPCIBusId(_NAME_BYTES, self._device))
        context = made("making a context", driver.cuDevicePrimaryCtxRetain(self._device))
        done("making a context", driver.cuCtxSetCurrent(context))
        self.stream = Stream()
        self.memory = Memory(self.stream)
        processors = self._asked(attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.kernels = Kernels(self.stream, self.memory, processors)
        cache_bytes = self._asked(attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
        self.timer = Timer(self.stream, self.memory, self.kernels, cache_bytes)

    def close(self) -> None:
        """Give everything back; never raises: after a fault there is nothing to give."""
        self.timer.close()
        self.memory.close()
        self.stream.close()
        driver.cuDevicePrimaryCtxRelease(self._device)

    def _asked(self, kind: object) -> int:
        return number("asking the device", driver.cuDeviceGetAttribute(kind, self._device))


def _text(result: tuple[object, ...]) -> str:
    found = made("asking the device", result)
    return found.split(b"\0")[0].decode() if isinstance(found, bytes) else str(found)

"""The CUDA device: `burnish.devices.port.Device` on an NVIDIA card, in a worker's process."""

from collections.abc import Mapping
from statistics import median

from burnish.devices.cuda_card import Card
from burnish.devices.cuda_energy import Window, energy_window
from burnish.devices.cuda_gpu import Gpu, gpus, others_on
from burnish.devices.cuda_program import CudaProgram
from burnish.devices.cuda_session import CudaSession
from burnish.devices.port import DeviceState, Place, Program, Regime, Session
from burnish.errors import DeviceError
from burnish.model.target import Target
from burnish.model.workload import Workload

__all__ = ["CudaDevice"]

_TEST_BYTES = 1 << 26
_COPY_BYTES = 1 << 30
_COPIES = 10
_PATTERN = 0x5A


class CudaDevice:
    """A card. One a process; after a sticky error the process has to end."""

    def __init__(self, ordinal: int) -> None:
        self._card = Card(ordinal)
        same = [gpu for gpu in gpus() if _bus(gpu.bus) == _bus(self._card.bus)]
        self._gpu = same[0] if same else Gpu(self._card.bus, self._card.name, "")

    def target(self) -> Target:
        """The card's model, architecture and driver."""
        return Target(self._card.arch, self._card.name, self._gpu.driver)

    def load(self, image: bytes, entry: str) -> Program:
        """Load a cubin, or PTX for the driver to compile."""
        return CudaProgram(self._card.stream, image, entry)

    def open(self, workload: Workload, places: Mapping[str, Place], regime: Regime) -> CudaSession:
        """Allocate the buffers of a workload."""
        return CudaSession(self._card, workload, places, regime)

    def state(self) -> DeviceState:
        """Clocks, power and throttling at this moment."""
        return self._gpu.state()

    def close(self) -> None:
        """Free everything."""
        self._card.close()

    def require_healthy(self) -> None:
        """Check that memory holds what is written and kernels see it.

        Raises:
            DeviceError: They do not, or the card refused.
        """
        stream, memory = self._card.stream, self._card.memory
        left, right = (memory.allocate(_TEST_BYTES) for _ in range(2))
        try:
            stream.fill(left.start, _PATTERN, _TEST_BYTES)
            stream.copy(right.start, left.start, _TEST_BYTES)
            same = self._card.kernels.differing(left, right)
            stream.fill(right.start + _TEST_BYTES - 1, _PATTERN + 1, 1)
            other = self._card.kernels.differing(left, right)
        finally:
            memory.free(left)
            memory.free(right)
        if (same, other) != (0, 1):
            raise DeviceError(
                f"{self._card.name} is unhealthy: of {_TEST_BYTES:,} bytes that were copied "
                f"{same} differ, and of one that was changed the comparison sees {other}"
            )

    def others(self) -> tuple[int, ...]:
        """Processes that compute on this card beside us."""
        return others_on(self._card.bus)

    def bandwidth_gbps(self) -> float:
        """What a large copy on the card moves, bytes read and written counted, in GB/s."""
        card = self._card
        size = min(_COPY_BYTES, card.memory.free_bytes() // 4)
        left, right = (card.memory.allocate(size) for _ in range(2))
        card.stream.fill(left.start, _PATTERN, size)
        card.timer.wake()

        def copy() -> None:
            card.stream.copy(right.start, left.start, size)

        try:
            spent_us = median(card.timer.warm_us(copy, _nothing, 1) for _ in range(_COPIES))
        finally:
            card.memory.free(left)
            card.memory.free(right)
        return 2 * size / spent_us / 1000.0

    def energy_window(self, session: Session, program: Program, seconds: float) -> Window:
        """Energy of a program's launches over a window between two ticks of the counter.

        Launches follow each other at once, whatever the session's regime: a flush would count.

        Raises:
            DeviceError: The card counts no energy, or the session is another device's.
        """
        if not isinstance(session, CudaSession):
            raise DeviceError("the session is not one of this device")
        launch = session.queue(program)
        return energy_window(self._card.stream, launch, self._gpu.energy_mj, seconds)

    def memory_bytes(self) -> int:
        """Free memory of the card, for whoever looks for leaks."""
        return self._card.memory.free_bytes()


def _bus(address: str) -> str:
    """A PCI address in one way: its domain has four digits in one library, eight in another."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain.lstrip('0')}:{rest}"


def _nothing() -> None:
    """Nothing has to be prepared."""

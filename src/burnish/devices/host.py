"""The host as a device: C functions in shared libraries, run by this machine's processor."""

import os
import statistics
import time
from collections.abc import Mapping
from pathlib import Path

from burnish.devices.host_arguments import c_arguments
from burnish.devices.host_caches import Caches
from burnish.devices.host_memory import HostBuffers
from burnish.devices.host_program import FloatEnvironment, HostProgram
from burnish.devices.port import DeviceState, Image, Place, Program, Regime
from burnish.errors import DeviceError
from burnish.model.workload import Workload

__all__ = ["HostDevice", "HostSession", "open_host"]

_BLOCKS = 7  # of launches that are timed together where nothing has to happen between them
_FREQUENCY = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq"


class HostSession:
    """Implements `burnish.devices.port.Session`.

    Attributes:
        method: How launches are timed, in words: part of the evidence.
    """

    def __init__(
        self,
        workload: Workload,
        places: Mapping[str, Place],
        caches: Caches | None,
        floats: FloatEnvironment,
    ) -> None:
        self._buffers = HostBuffers(workload, places)
        self._values = c_arguments(workload.arguments, self._buffers.address)
        self._globals = workload.globals
        self._caches = caches
        self._floats = floats
        self.method = "perf_counter"
        if caches is not None:
            read, cache = caches.flush_bytes >> 20, caches.largest_bytes >> 20
            self.method += f"; {read} MiB read before each launch (largest cache: {cache} MiB)"

    def upload(self, images: Mapping[str, Image]) -> None:
        """Set whole buffers, guard zones included."""
        self._buffers.upload(images)

    def restore(self) -> None:
        """Bring every buffer that a launch may write back to what was last uploaded."""
        self._buffers.restore(self._buffers.written)

    def launch(self, program: Program) -> None:
        """Call the function once."""
        known = _ours(program)
        known.set_globals(self._globals)
        known.call(*self._values)
        self._floats.restore()

    def download(self, name: str) -> Image:
        """The whole image of a buffer, guard zones included."""
        return self._buffers.download(name)

    def time_us(self, program: Program, calls: int) -> float:
        """Median time of launches in a row, in µs.

        What a launch updates in place is brought back before each, outside of what is timed.
        """
        if calls < 1:
            raise DeviceError(f"{calls} launches cannot be timed")
        known = _ours(program)
        updated = self._buffers.updated
        alone = self._caches is not None or bool(updated) or bool(self._globals)
        blocks = calls if alone else min(calls, _BLOCKS)
        times_us = []
        for block in range(blocks):
            # Launches left ÷ blocks left: they add up to `calls`.
            share = calls * (block + 1) // blocks - calls * block // blocks
            self._buffers.restore(updated)
            known.set_globals(self._globals)
            if self._caches is not None:
                self._caches.flush()
            times_us.append(self._time_block(known, share))
        return statistics.median(times_us)

    def close(self) -> None:
        """Give the memory back; programs stay loaded."""
        self._values = ()
        self._buffers.close()

    def _time_block(self, program: HostProgram, calls: int) -> float:
        call, values = program.call, self._values
        started_ns = time.perf_counter_ns()
        for _ in range(calls):
            call(*values)
        passed_ns = time.perf_counter_ns() - started_ns
        self._floats.restore()
        return passed_ns / 1e3 / calls


class HostDevice:
    """Implements `burnish.devices.port.Device` on one core of this machine.

    Args:
        core: The core; the caller has pinned the process to it, or not.
    """

    def __init__(self, core: int) -> None:
        self._core = core
        self._caches: Caches | None = None
        self._floats = FloatEnvironment()

    def load(self, image: bytes, entry: str) -> HostProgram:
        """Load a shared library."""
        return HostProgram(image, entry)

    def open(self, workload: Workload, places: Mapping[str, Place], regime: Regime) -> HostSession:
        """Allocate the buffers of a workload."""
        if regime is Regime.COLD and self._caches is None:
            self._caches = Caches(self._core)
        caches = self._caches if regime is Regime.COLD else None
        return HostSession(workload, places, caches, self._floats)

    def state(self) -> DeviceState:
        """The core's clock, where the system says it."""
        try:
            khz = Path(_FREQUENCY.format(self._core)).read_text()
            return DeviceState(clock_mhz=int(khz) / 1e3)
        except (OSError, ValueError):
            return DeviceState()

    def close(self) -> None:
        """Give the memory back."""
        self._caches = None


def open_host(*, pin: bool = True) -> HostDevice:
    """Make a host device in this process: the setup of a worker.

    Args:
        pin: Whether to stay on one core. That is what one thread wants, whose caches would
            be lost with every move; a kernel of several threads must not be pinned.
    """
    # The last one: the first cores get most interrupts.
    core = max(os.sched_getaffinity(0))
    if pin:
        os.sched_setaffinity(0, {core})
    return HostDevice(core)


def _ours(program: Program) -> HostProgram:
    if not isinstance(program, HostProgram) or not program.is_open:
        raise DeviceError("the program was not loaded by this device, or is closed already")
    return program

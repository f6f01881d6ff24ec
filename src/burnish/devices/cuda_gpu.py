"""What NVIDIA's management library says of a card. It makes no CUDA context.

Safe in any process. Where there is no library, no card or no answer, nothing is known: that is
no error.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import pynvml

from burnish.devices.port import DeviceState

__all__ = ["Gpu", "gpus", "others_on"]

T = TypeVar("T")

# Bits of nvmlClocksEventReasons. An idle card is not held down, so that bit has no name here.
_REASONS = {
    0x2: "applications clocks setting",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
    0x100: "display clock setting",
}
_INSTANT_POWER = 186  # NVML_FI_DEV_POWER_INSTANT; nvmlDeviceGetPowerUsage is a mean of a second
_MILLI = 1000.0


@dataclass(frozen=True, slots=True)
class Gpu:
    """A card, as the management library knows it.

    Attributes:
        bus: PCI address.
        name: The model.
        driver: Version of the driver.
    """

    bus: str
    name: str
    driver: str

    def state(self) -> DeviceState:
        """Clocks, power and throttling at this moment.

        Not the energy: on an H200 its counter takes 4 ms to read, as long as a round of launches.
        """
        handle = _handle(self.bus)
        if handle is None:
            return DeviceState()
        return DeviceState(
            clock_mhz=_asked(lambda: float(pynvml.nvmlDeviceGetClockInfo(handle, _clock()))),
            power_w=_asked(lambda: _power_w(handle)),
            temperature_c=_asked(
                lambda: float(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
            ),
            throttle=_asked(lambda: _throttle(handle)) or (),
        )

    def energy_mj(self) -> float | None:
        """Energy that the card used since its driver was loaded."""
        handle = _handle(self.bus)
        if handle is None:
            return None
        return _asked(lambda: float(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)))


def gpus() -> tuple[Gpu, ...]:
    """The cards of this machine; empty where there is none, or no driver."""
    if not _is_started():
        return ()
    count = _asked(pynvml.nvmlDeviceGetCount) or 0
    return tuple(filter(None, map(_gpu, range(count))))


def others_on(bus: str) -> tuple[int, ...]:
    """Processes that compute on a card and are not of this program's family.

    The family is our parent's process and all that it started. Where the card's numbers are not
    those of this machine's processes (a container may hide them), one process, ours, is left out.
    """
    handle = _handle(bus)
    if handle is None:
        return ()
    running = _asked(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle)) or []
    pids = [int(process.pid) for process in running]
    if pids and os.getpid() not in pids:
        hidden = [pid for pid in pids if not Path(f"/proc/{pid}").exists()]
        pids = [pid for pid in pids if pid not in hidden[:1]]
    family = {os.getpid(), os.getppid()}
    return tuple(pid for pid in pids if not family & set(_ancestry(pid)))


def _ancestry(pid: int) -> tuple[int, ...]:
    """A process and its parents, up to but without the first one."""
    found: list[int] = []
    while pid > 1 and pid not in found:
        found.append(pid)
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            break
        pid = int(words[1])
    return tuple(found)


@cache
def _is_started() -> bool:
    return _asked(lambda: pynvml.nvmlInit() or True) is True


@cache
def _handle(bus: str) -> object | None:
    if not _is_started():
        return None
    return _asked(lambda: _any(pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())))


def _any(value: object) -> object:
    return value


def _gpu(index: int) -> Gpu | None:
    handle = _asked(lambda: _any(pynvml.nvmlDeviceGetHandleByIndex(index)))
    if handle is None:
        return None
    bus = _asked(lambda: _text(pynvml.nvmlDeviceGetPciInfo(handle).busId)) or ""
    name = _asked(lambda: _text(pynvml.nvmlDeviceGetName(handle))) or ""
    return Gpu(bus, name, _asked(lambda: _text(pynvml.nvmlSystemGetDriverVersion())) or "")


def _clock() -> int:
    return int(pynvml.NVML_CLOCK_SM)


def _power_w(handle: object) -> float | None:
    field = pynvml.nvmlDeviceGetFieldValues(handle, [_INSTANT_POWER])[0]
    if field.nvmlReturn == pynvml.NVML_SUCCESS:
        return float(field.value.uiVal) / _MILLI
    return float(pynvml.nvmlDeviceGetPowerUsage(handle)) / _MILLI


def _throttle(handle: object) -> tuple[str, ...]:
    bits = int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    return tuple(name for bit, name in _REASONS.items() if bits & bit)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _asked(question: Callable[[], T]) -> T | None:
    try:
        return question()
    except pynvml.NVMLError:
        return None

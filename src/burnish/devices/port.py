"""What a device can do. Implemented by `burnish.devices.host` and the CUDA device.

Everything here lives in a worker process (`burnish.devices.worker`): the parent never holds
a device. Buffers are whole images: guard zone, data, guard zone. What lies in them is the
business of `burnish.verify`; how a launch is timed is the device's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from burnish.model.workload import Workload

__all__ = [
    "Device",
    "DeviceState",
    "Explained",
    "Image",
    "Place",
    "Program",
    "Regime",
    "Resident",
    "Roofed",
    "Session",
    "Shared",
]

Image = NDArray[np.uint8]


class Regime(StrEnum):
    """What the caches hold when a timed launch starts; part of every result."""

    COLD = "cold"
    WARM = "warm"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer's data lies in its image.

    Attributes:
        total_bytes: Size of the image, both guard zones included.
        data_offset: First byte of the data; the pointer that the kernel gets is aligned to
            256 bytes on every device.
        data_bytes: Size of the data.
    """

    total_bytes: int
    data_offset: int
    data_bytes: int


@dataclass(frozen=True, slots=True)
class DeviceState:
    """What a device says of itself between rounds; None where it cannot say.

    Attributes:
        clock_mhz: Clock of the cores.
        power_w: Power at this moment.
        temperature_c: Temperature of the die.
        throttle: Names of the reasons for which the clock is held down.
    """

    clock_mhz: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    throttle: tuple[str, ...] = ()


class Program(Protocol):
    """A loaded binary, ready to launch its entry."""

    def close(self) -> None:
        """Unload it; afterwards it cannot be launched."""


class Session(Protocol):
    """One workload's buffers on a device."""

    def upload(self, images: Mapping[str, Image]) -> None:
        """Set whole buffers, guard zones included; these are what `restore` brings back."""

    def restore(self) -> None:
        """Bring every buffer that a launch may write back to what was last uploaded."""

    def launch(self, program: Program) -> None:
        """Launch once and wait for the end.

        Raises:
            DeviceError: The launch was refused or failed; the worker may be poisoned.
        """

    def download(self, name: str) -> Image:
        """The whole image of a buffer, guard zones included."""

    def time_us(self, program: Program, calls: int) -> float:
        """Time of one of ``calls`` launches in a row, in µs, under the session's regime."""


@runtime_checkable
class Resident(Protocol):
    """What a session can do besides where images may stay on the device.

    A check that moves nothing to the host takes a hundredth of the time. Images are kept under
    numbers; what there is no room for is not kept, and is compared on the host.
    """

    def keep(self, name: str, image: Image) -> int | None:
        """Keep an image of a buffer on the device; None where there is no room."""

    def snapshot(self, name: str) -> int | None:
        """Keep a buffer as it is now, guard zones included; None where there is no room."""

    def put(self, name: str, held: int) -> None:
        """Set a buffer to a kept image, as `Session.upload` does."""

    def differing(self, name: str, held: int) -> int:
        """In how many bytes a buffer differs from a kept image, guard zones included."""

    def release(self, held: int) -> None:
        """Forget a kept image."""


@runtime_checkable
class Shared(Protocol):
    """A device that other processes may use at the same time; devices offer it where they know."""

    def others(self) -> tuple[int, ...]:
        """Process numbers of others that use it now."""


@runtime_checkable
class Explained(Protocol):
    """A session that can say how it times launches, where there is more than one way."""

    @property
    def method(self) -> str:
        """How launches are timed, in words: part of the evidence."""


@runtime_checkable
class Roofed(Protocol):
    """A device that can measure what its memory moves at most."""

    def bandwidth_gbps(self) -> float:
        """What a large copy moves, bytes read and written counted, in GB/s."""


class Device(Protocol):
    """A device, in the process that owns it."""

    def load(self, image: bytes, entry: str) -> Program:
        """Load a binary. Raises DeviceError where the device refuses it."""

    def open(self, workload: Workload, places: Mapping[str, Place], regime: Regime) -> Session:
        """Allocate the buffers of a workload; views share the memory of what they view."""

    def state(self) -> DeviceState:
        """Clocks, power and throttling at this moment."""

    def close(self) -> None:
        """Free everything."""

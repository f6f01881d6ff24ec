"""One stream of work on the card: copies, fills, events, and the end of it all.

Everything that Burnish does on a card goes through one stream, in order. What is queued runs
later; `wait` is where a fault of anything before it comes to light.
"""

import numpy as np
from cuda.bindings import driver

from burnish.devices.cuda_driver import Result, done, made
from burnish.devices.port import Image

__all__ = ["Stream"]


class Stream:
    """A stream. Addresses are the card's, as numbers."""

    def __init__(self) -> None:
        flags = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
        self.handle = made("opening a stream", driver.cuStreamCreate(int(flags)))

    def send(self, address: int, image: Image) -> None:
        """Copy bytes to the card; returns when they are there."""
        if image.size:
            whole = np.ascontiguousarray(image)
            queued = driver.cuMemcpyHtoDAsync(address, whole.ctypes.data, whole.nbytes, self.handle)
            done("copying to the card", queued)
            self.wait("copying to the card")

    def fetch(self, address: int, size_bytes: int) -> Image:
        """Copy bytes from the card; returns when they are here."""
        image = np.empty(size_bytes, np.uint8)
        if size_bytes:
            queued = driver.cuMemcpyDtoHAsync(image.ctypes.data, address, size_bytes, self.handle)
            done("copying from the card", queued)
            self.wait("copying from the card")
        return image

    def copy(self, target: int, source: int, size_bytes: int) -> None:
        """Queue a copy on the card."""
        if size_bytes:
            queued = driver.cuMemcpyDtoDAsync(target, source, size_bytes, self.handle)
            done("copying on the card", queued)

    def fill(self, address: int, value: int, size_bytes: int) -> None:
        """Queue the writing of one value to every byte."""
        if size_bytes:
            done("filling", driver.cuMemsetD8Async(address, value, size_bytes, self.handle))

    def record(self, event: object) -> None:
        """Queue the noting of the time."""
        result: Result = driver.cuEventRecord(event, self.handle)
        if result[0] != 0:
            done("recording an event", result)

    def wait(self, stage: str) -> None:
        """Wait until everything queued is done; ``stage`` names it where it failed."""
        done(stage, driver.cuStreamSynchronize(self.handle))

    def close(self) -> None:
        """Give the stream back."""
        driver.cuStreamDestroy(self.handle)

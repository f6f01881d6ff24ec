"""A workload's buffers in the memory of this machine."""

import mmap
from collections.abc import Iterable, Mapping

import numpy as np

from burnish.devices.arrangement import arranged
from burnish.devices.port import Image, Place
from burnish.errors import DeviceError
from burnish.model.workload import Workload

__all__ = ["HostBuffers"]

_ALIGNED_BYTES = 256
_PAGE_BYTES = mmap.PAGESIZE


class HostBuffers:
    """Buffers by name; a view stands for the memory of the buffer that it views.

    All of them lie in one mapping of their own, away from the interpreter's memory.

    Attributes:
        written: The buffers that a launch may write.
        updated: Those of them that it also reads.
    """

    def __init__(self, workload: Workload, places: Mapping[str, Place]) -> None:
        self._arrangement = arranged(workload, places)
        self._images = _allocate(self._arrangement.places)
        self._pristine: dict[str, Image] = {}
        self.written = self._arrangement.written
        self.updated = self._arrangement.updated

    def address(self, name: str) -> int:
        """Where the data of a buffer or view begins.

        Raises:
            LaunchError: There is no such buffer.
        """
        owner, start = self._arrangement.data_of(name)
        return self._images[owner].ctypes.data + start

    def upload(self, images: Mapping[str, Image]) -> None:
        """Set whole buffers; of what a launch may write, a copy is kept."""
        for name, image in images.items():
            own = self._image(name)
            if image.nbytes != own.nbytes:
                raise DeviceError(f"buffer {name!r} has {own.nbytes} bytes, not {image.nbytes}")
            own[:] = image
            if name in self.written:
                self._pristine[name] = own.copy()

    def restore(self, names: Iterable[str]) -> None:
        """Bring buffers back to what was last set."""
        for name in names:
            if name in self._pristine:
                self._images[name][:] = self._pristine[name]

    def download(self, name: str) -> Image:
        """A copy of the image of a buffer."""
        return self._image(name).copy()

    def close(self) -> None:
        """Forget everything; the memory goes with the last view of it."""
        self._images.clear()
        self._pristine.clear()

    def _image(self, name: str) -> Image:
        if name not in self._images:
            raise DeviceError(f"{name!r} has no memory of its own: it is a view, or unknown")
        return self._images[name]


def _allocate(places: Mapping[str, Place]) -> dict[str, Image]:
    """One mapping with every image in it: data aligned, each on pages of its own."""
    starts: dict[str, int] = {}
    end = _PAGE_BYTES
    for name, place in places.items():
        starts[name] = end + (-place.data_offset) % _ALIGNED_BYTES
        end = _up(starts[name] + place.total_bytes, _PAGE_BYTES) + _PAGE_BYTES
    try:
        memory = np.frombuffer(mmap.mmap(-1, end), np.uint8)
    except OSError as error:
        raise DeviceError(f"{end} bytes for buffers: {error.strerror}") from None
    return {name: memory[at : at + places[name].total_bytes] for name, at in starts.items()}


def _up(number: int, step: int) -> int:
    return -(-number // step) * step

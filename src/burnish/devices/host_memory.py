"""A workload's buffers in the memory of this machine."""

import mmap
from collections.abc import Iterable, Mapping

import numpy as np

from burnish.bundle.dtypes import dtype
from burnish.devices.port import Image, Place
from burnish.errors import DeviceError, LaunchError
from burnish.model.workload import Buffer, Role, Workload

__all__ = ["HostBuffers"]

_ALIGNED_BYTES = 256
_PAGE_BYTES = mmap.PAGESIZE


class HostBuffers:
    """Buffers by name; a view stands for the memory of the buffer that it views.

    All of them lie in one mapping of their own, away from the interpreter's memory.
    """

    def __init__(self, workload: Workload, places: Mapping[str, Place]) -> None:
        self._buffers = {
            argument.name: argument
            for argument in workload.arguments
            if isinstance(argument, Buffer)
        }
        owners = [name for name, buffer in self._buffers.items() if not buffer.view_of]
        self._places = {name: _place(places, name) for name in owners}
        self._images = _allocate(self._places)
        self._pristine: dict[str, Image] = {}
        self._written = self._touched({Role.OUT, Role.INOUT})
        self.updated = self._touched({Role.INOUT})

    @property
    def written(self) -> frozenset[str]:
        """The buffers that a launch may write."""
        return self._written

    def address(self, name: str) -> int:
        """Where the data of a buffer or view begins.

        Raises:
            LaunchError: There is no such buffer.
        """
        if name not in self._buffers:
            raise LaunchError(f"no buffer is named {name!r}; there are: {', '.join(self._buffers)}")
        buffer = self._buffers[name]
        if not buffer.view_of:
            return self._images[name].ctypes.data + self._places[name].data_offset
        return self.address(buffer.view_of) + buffer.offset * dtype(buffer.dtype).size

    def upload(self, images: Mapping[str, Image]) -> None:
        """Set whole buffers; of what a launch may write, a copy is kept."""
        for name, image in images.items():
            own = self._image(name)
            if image.nbytes != own.nbytes:
                raise DeviceError(f"buffer {name!r} has {own.nbytes} bytes, not {image.nbytes}")
            own[:] = image
            if name in self._written:
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

    def _touched(self, roles: set[Role]) -> frozenset[str]:
        """The buffers with memory that are in one of the roles, or viewed by one that is."""
        return frozenset(
            self._owner(buffer) for buffer in self._buffers.values() if buffer.role in roles
        )

    def _owner(self, buffer: Buffer) -> str:
        return self._owner(self._buffers[buffer.view_of]) if buffer.view_of else buffer.name


def _place(places: Mapping[str, Place], name: str) -> Place:
    if name not in places:
        raise DeviceError(f"no place was given for buffer {name!r}")
    return places[name]


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

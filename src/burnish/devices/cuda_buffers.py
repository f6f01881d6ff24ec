"""A workload's buffers on the card, and the images that are kept beside them."""

from collections.abc import Iterable, Mapping

from burnish.bundle.dtypes import dtype
from burnish.devices.cuda_kernels import Kernels
from burnish.devices.cuda_memory import Block, Memory
from burnish.devices.cuda_stream import Stream
from burnish.devices.port import Image, Place
from burnish.errors import DeviceError, LaunchError
from burnish.model.workload import Buffer, Role, Workload

__all__ = ["Buffers"]


class Buffers:
    """Buffers by name. A view has no memory of its own: it stands for the buffer it views."""

    def __init__(
        self, memory: Memory, kernels: Kernels, workload: Workload, places: Mapping[str, Place]
    ) -> None:
        self._memory = memory
        self._kernels = kernels
        self._buffers = {
            argument.name: argument
            for argument in workload.arguments
            if isinstance(argument, Buffer)
        }
        self._places = {
            name: _place(places, name)
            for name, buffer in self._buffers.items()
            if not buffer.view_of
        }
        self._blocks = {
            name: memory.allocate(place.total_bytes, place.data_offset)
            for name, place in self._places.items()
        }
        self._kept: dict[int, tuple[str, Block]] = {}
        self._pristine: dict[str, Block | Image] = {}
        self._next = 1
        self.written = self._touched({Role.OUT, Role.INOUT})
        self.updated = self._touched({Role.INOUT})

    def address(self, name: str) -> int:
        """Where the data of a buffer or view begins."""
        if name not in self._buffers:
            raise LaunchError(f"no buffer is named {name!r}; there are: {', '.join(self._buffers)}")
        buffer = self._buffers[name]
        if not buffer.view_of:
            return self._blocks[name].address + self._places[name].data_offset
        return self.address(buffer.view_of) + buffer.offset * dtype(buffer.dtype).size

    def upload(self, stream: Stream, images: Mapping[str, Image]) -> None:
        """Set whole buffers; of what a launch may write, a copy is kept for `restore`."""
        for name, image in images.items():
            block = self._block(name)
            _require_size(name, image, block)
            stream.send(block.address, image)
            if name in self.written:
                self._forget(name)
                twin = self._memory.twin(block)
                if twin is not None:
                    stream.copy(twin.start, block.start, block.total_bytes)
                self._pristine[name] = image.copy() if twin is None else twin

    def restore(self, stream: Stream, names: Iterable[str]) -> None:
        """Queue the return of buffers to what was last set."""
        for name in names:
            pristine, block = self._pristine.get(name), self._blocks[name]
            if isinstance(pristine, Block):
                stream.copy(block.start, pristine.start, block.total_bytes)
            elif pristine is not None:
                stream.send(block.address, pristine)

    def download(self, stream: Stream, name: str) -> Image:
        """The whole image of a buffer."""
        block = self._block(name)
        return stream.fetch(block.address, block.image_bytes)

    def keep(self, stream: Stream, name: str, image: Image | None) -> int | None:
        """Keep an image of a buffer, or the buffer as it is, beside it; None: no room."""
        block = self._block(name)
        twin = self._memory.twin(block)
        if twin is None:
            return None
        if image is None:
            stream.copy(twin.start, block.start, block.total_bytes)
        else:
            _require_size(name, image, block)
            stream.send(twin.address, image)
        held, self._next = self._next, self._next + 1
        self._kept[held] = (name, twin)
        return held

    def put(self, stream: Stream, name: str, held: int) -> None:
        """Set a buffer to a kept image, which `restore` then brings back."""
        block, image = self._block(name), self._held(name, held)
        stream.copy(block.start, image.start, block.total_bytes)
        if name in self.written:
            self._forget(name)
            self._pristine[name] = image

    def differing(self, name: str, held: int) -> int:
        """In how many bytes a buffer, guard zones included, differs from a kept image."""
        return self._kernels.differing(self._block(name), self._held(name, held))

    def digest(self, name: str) -> str:
        """A digest of a buffer, guard zones included."""
        return self._kernels.digest(self._block(name))

    def release(self, held: int) -> None:
        """Forget a kept image; what `restore` needs of it stays until the next `put`."""
        _, image = self._kept.pop(held, ("", None))
        if image is not None and not any(image is one for one in self._pristine.values()):
            self._memory.free(image)

    def close(self) -> None:
        """Give all memory back."""
        kept = [image for _, image in self._kept.values()]
        pristine = [image for image in self._pristine.values() if isinstance(image, Block)]
        for block in (*self._blocks.values(), *kept, *pristine):
            self._memory.free(block)

    def _block(self, name: str) -> Block:
        if name not in self._blocks:
            raise DeviceError(f"{name!r} has no memory of its own: it is a view, or unknown")
        return self._blocks[name]

    def _held(self, name: str, held: int) -> Block:
        of, image = self._kept.get(held, ("", None))
        if image is None or of != name:
            raise DeviceError(f"no kept image {held} of buffer {name!r}")
        return image

    def _forget(self, name: str) -> None:
        old = self._pristine.pop(name, None)
        kept = [image for _, image in self._kept.values()]
        if isinstance(old, Block) and old not in kept:
            self._memory.free(old)

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


def _require_size(name: str, image: Image, block: Block) -> None:
    if image.nbytes != block.image_bytes:
        raise DeviceError(f"buffer {name!r} has {block.image_bytes} bytes, not {image.nbytes}")

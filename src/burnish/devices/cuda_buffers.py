"""A workload's buffers on the card, and the images that are kept beside them."""

from collections.abc import Iterable, Mapping

from burnish.devices.arrangement import arranged
from burnish.devices.cuda_kernels import Kernels
from burnish.devices.cuda_memory import Block, Memory
from burnish.devices.cuda_stream import Stream
from burnish.devices.port import Image, Place
from burnish.errors import DeviceError
from burnish.model.workload import Workload

__all__ = ["Buffers"]


class Buffers:
    """Buffers by name. A view has no memory of its own: it stands for the buffer it views.

    Attributes:
        written: The buffers that a launch may write.
        updated: Those of them that it also reads.
    """

    def __init__(
        self, memory: Memory, kernels: Kernels, workload: Workload, places: Mapping[str, Place]
    ) -> None:
        self._memory = memory
        self._kernels = kernels
        self._arrangement = arranged(workload, places)
        self._blocks = {
            name: memory.allocate(place.total_bytes, place.data_offset)
            for name, place in self._arrangement.places.items()
        }
        self._kept: dict[int, tuple[str, Block]] = {}
        self._pristine: dict[str, Block | Image] = {}
        self._next = 1
        self.written = self._arrangement.written
        self.updated = self._arrangement.updated

    def address(self, name: str) -> int:
        """Where the data of a buffer or view begins."""
        owner, start = self._arrangement.data_of(name)
        return self._blocks[owner].address + start

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


def _require_size(name: str, image: Image, block: Block) -> None:
    if image.nbytes != block.image_bytes:
        raise DeviceError(f"buffer {name!r} has {block.image_bytes} bytes, not {image.nbytes}")

"""Which of a workload's buffers own memory, where views begin in it, and what a launch touches."""

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.bundle.dtypes import dtype
from burnish.devices.port import Place
from burnish.errors import DeviceError, LaunchError
from burnish.model.workload import Buffer, Role, Workload

__all__ = ["Arrangement", "arranged"]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A workload's buffers, on whichever device they lie.

    Attributes:
        buffers: All of them by name; a view stands for the memory of the buffer that it views.
        places: Where the data of those that own memory lies in their images.
    """

    buffers: Mapping[str, Buffer]
    places: Mapping[str, Place]

    @property
    def written(self) -> frozenset[str]:
        """Those with memory that a launch may write, through themselves or a view."""
        return self._touched({Role.OUT, Role.INOUT})

    @property
    def updated(self) -> frozenset[str]:
        """Those with memory that a launch reads and writes, through themselves or a view."""
        return self._touched({Role.INOUT})

    def data_of(self, name: str) -> tuple[str, int]:
        """Whose memory holds the data of a buffer or view, and at which byte of its image.

        Raises:
            LaunchError: There is no such buffer.
        """
        if name not in self.buffers:
            raise LaunchError(f"no buffer is named {name!r}; there are: {', '.join(self.buffers)}")
        buffer = self.buffers[name]
        if not buffer.view_of:
            return name, self.places[name].data_offset
        owner, start = self.data_of(buffer.view_of)
        return owner, start + buffer.offset * dtype(buffer.dtype).size

    def _touched(self, roles: set[Role]) -> frozenset[str]:
        return frozenset(
            self.data_of(name)[0] for name, buffer in self.buffers.items() if buffer.role in roles
        )


def arranged(workload: Workload, places: Mapping[str, Place]) -> Arrangement:
    """The buffers of a workload in their places.

    Raises:
        DeviceError: A buffer with memory of its own has no place.
    """
    buffers = {one.name: one for one in workload.arguments if isinstance(one, Buffer)}
    owners = [name for name, buffer in buffers.items() if not buffer.view_of]
    for name in owners:
        if name not in places:
            raise DeviceError(f"no place was given for buffer {name!r}")
    return Arrangement(buffers, {name: places[name] for name in owners})

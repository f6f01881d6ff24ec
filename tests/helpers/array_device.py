"""A device whose programs are Python functions on numpy arrays: for tests of `verify`.

A function gets an `Arguments`: the buffers in their shape, as stored, and the scalars. It may
misbehave at will, through `memory`, which is the whole image.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.bundle.dtypes import DTYPES
from burnish.bundle.layout import buffers, extent, is_written, roots, shaped
from burnish.devices.port import DeviceState, Image, Place, Program, Regime
from burnish.errors import DeviceError
from burnish.model.workload import Scalar, Workload


class Arguments(dict[str, NDArray[Any]]):
    """What a program gets: arrays and numbers by name."""

    def __init__(
        self, workload: Workload, places: Mapping[str, Place], images: dict[str, Image]
    ) -> None:
        super().__init__()
        self.memory = images
        self.places = places
        self.workload = workload
        self.numbers = {
            one.name: one.value for one in workload.arguments if isinstance(one, Scalar)
        }
        for buffer in buffers(workload):
            kind, place = DTYPES[buffer.dtype], places[buffer.name]
            image = images[buffer.view_of or buffer.name]
            raw = image[place.data_offset : place.data_offset + extent(buffer) * kind.size]
            self[buffer.name] = shaped(raw.view(kind.stored), buffer)


Function = Callable[[Arguments], None]


class ArrayProgram:
    """A loaded function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.launches = 0

    def close(self) -> None:
        """Nothing to unload."""


class ArraySession:
    """Buffers in this process."""

    def __init__(self, workload: Workload, places: Mapping[str, Place]) -> None:
        self.workload = workload
        self.places = places
        self.images = {
            root.name: np.empty(places[root.name].total_bytes, np.uint8) for root in roots(workload)
        }
        self.pristine: dict[str, Image] = {}
        self.uploads = 0

    def upload(self, images: Mapping[str, Image]) -> None:
        self.uploads += 1
        for name, image in images.items():
            self.images[name][:] = image
            self.pristine[name] = image

    def restore(self) -> None:
        for root in roots(self.workload):
            if is_written(self.workload, root):
                self.images[root.name][:] = self.pristine[root.name]

    def launch(self, program: Program) -> None:
        assert isinstance(program, ArrayProgram)
        program.launches += 1
        program.function(Arguments(self.workload, self.places, self.images))

    def download(self, name: str) -> Image:
        return self.images[name].copy()

    def time_us(self, program: Program, calls: int) -> float:
        for _ in range(calls):
            self.launch(program)
        return 1.0


class ResidentSession(ArraySession):
    """The same, with images that stay on the device."""

    def __init__(self, workload: Workload, places: Mapping[str, Place], room: int = 1000) -> None:
        super().__init__(workload, places)
        self.kept: dict[int, Image] = {}
        self.room = room
        self.downloads = 0

    def download(self, name: str) -> Image:
        self.downloads += 1
        return super().download(name)

    def keep(self, name: str, image: Image) -> int | None:
        assert image.size == self.images[name].size
        if len(self.kept) == self.room:
            return None
        self.kept[len(self.kept)] = image.copy()
        return len(self.kept) - 1

    def snapshot(self, name: str) -> int | None:
        return self.keep(name, self.images[name])

    def put(self, name: str, held: int) -> None:
        self.images[name][:] = self.kept[held]
        self.pristine[name] = self.kept[held]

    def differing(self, name: str, held: int) -> int:
        return int(np.count_nonzero(self.images[name] != self.kept[held]))

    def digest(self, name: str) -> str:
        return self.images[name].tobytes().hex()

    def release(self, held: int) -> None:
        del self.kept[held]


class ArrayDevice:
    """Programs are functions, found by the bytes of their image."""

    def __init__(self, *, resident: bool = False) -> None:
        self.functions: dict[bytes, Function] = {}
        self.sessions: list[ArraySession] = []
        self.resident = resident

    def load(self, image: bytes, entry: str) -> ArrayProgram:
        if image not in self.functions:
            raise DeviceError(f"no function {image!r} for {entry}")
        return ArrayProgram(self.functions[image])

    def program(self, function: Function) -> ArrayProgram:
        return ArrayProgram(function)

    def open(self, workload: Workload, places: Mapping[str, Place], regime: Regime) -> ArraySession:
        assert regime
        made = ResidentSession if self.resident else ArraySession
        self.sessions.append(made(workload, places))
        return self.sessions[-1]

    def state(self) -> DeviceState:
        return DeviceState()

    def close(self) -> None:
        self.sessions.clear()

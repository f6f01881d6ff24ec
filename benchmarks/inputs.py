"""How fast the contents of buffers are made, and what it takes to set up a check.

    python benchmarks/inputs.py [MIB] [CORES]

The check's kernel copies MIB of f32, by numpy, in a session in this process: so only Burnish's
own share is measured, and that of memory that is touched for the first time.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping

import numpy as np

from burnish.bundle.dtypes import DTYPES
from burnish.devices.host_memory import HostBuffers
from burnish.devices.port import Device, DeviceState, Image, Place, Program, Regime, Session
from burnish.model.control import Risk
from burnish.model.workload import Buffer, Role, Workload
from burnish.verify.cases import Case
from burnish.verify.examiner import Examiner
from burnish.verify.inputs import fill_memory
from burnish.verify.paper import Plan

FILLS = [
    *((name, "normal") for name, kind in DTYPES.items() if kind.kind == "float"),
    ("f32", "uniform(-1, 1)"),
    ("bf16", "uniform(-1, 1)"),
    *((name, "integers(0, 100)") for name in ("i8", "i32", "i64")),
    ("i32", "arange"),
    ("i32", "permutation"),
    ("i32", "offsets(1000000)"),
]


class _Copy:
    """The kernel."""

    def __init__(self, factor: float) -> None:
        self.factor = np.float32(factor)

    def close(self) -> None:
        """Nothing to unload."""


class _Session:
    """A session whose kernel is numpy's."""

    def __init__(self, workload: Workload, places: Mapping[str, Place]) -> None:
        self._buffers = HostBuffers(workload, places)
        self._places = places
        self.upload = self._buffers.upload
        self.download = self._buffers.download

    def restore(self) -> None:
        """Bring back what a launch may write."""
        self._buffers.restore(self._buffers.written)

    def launch(self, program: Program) -> None:
        """Multiply by the factor."""
        assert isinstance(program, _Copy)
        source, target = (self._data(name) for name in ("x", "y"))
        np.multiply(source, program.factor, out=target)

    def time_us(self, _program: Program, _calls: int) -> float:
        """Nothing is timed here."""
        return 1.0

    def _data(self, name: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
        place = self._places[name]
        image: Image = self._buffers._images[name]  # noqa: SLF001 - what a kernel's pointer is
        return image[place.data_offset :][: place.data_bytes].view(np.float32)


class _Device:
    """Opens such sessions."""

    def load(self, _image: bytes, _entry: str) -> Program:
        """Nothing is loaded."""
        return _Copy(1.0)

    def open(self, workload: Workload, places: Mapping[str, Place], _regime: Regime) -> Session:
        """Allocate the buffers."""
        return _Session(workload, places)

    def state(self) -> DeviceState:
        """Nothing is known."""
        return DeviceState()

    def close(self) -> None:
        """Nothing to free."""


def main(mib: int = 64, cores: int = 0) -> None:
    """Measure and print."""
    usable = sorted(os.sched_getaffinity(0))
    if cores:
        os.sched_setaffinity(0, set(usable[:cores]))
    print(json.dumps({"MiB": mib, "cores": cores or len(usable)}))
    for name, fill in FILLS:
        print(f"{name:7} {fill:18} {_speed(name, fill, mib << 20):8.0f} MB/s")
    for what, seconds in _check(mib << 20).items():
        print(f"{what:34} {seconds:6.2f} s")


def _speed(name: str, fill: str, size: int) -> float:
    count = size // DTYPES[name].size
    buffer, memory = Buffer("x", name, (count,), fill=fill), np.ones(count, DTYPES[name].stored)
    seconds = [_seconds(lambda: fill_memory(memory, buffer, "w", Case(0))) for _ in range(3)]
    return memory.nbytes / 1e6 / min(seconds)


def _check(size: int) -> dict[str, float]:
    x = Buffer("x", "f32", (size // 4,), Role.IN, "normal")
    workload = Workload("copy", (x, Buffer("y", "f32", x.shape, Role.OUT)))
    device: Device = _Device()
    rounded = _Copy(1 + 2.0**-23)
    for_search = Examiner(device, _Copy(1.0), (workload,), Plan())
    confirming = Examiner(device, _Copy(1.0), (workload,), Plan(is_proved=True))
    return {
        "set up a confirming process": _seconds(lambda: confirming.session("copy")),
        "set up a search": _seconds(for_search.prepare),
        "check a candidate": _seconds(lambda: for_search.examine(_Copy(1.0))),
        "check one that rounds (first)": _seconds(
            lambda: for_search.examine(rounded, Risk.ROUNDING)
        ),
        "check one that rounds (next)": _seconds(
            lambda: for_search.examine(rounded, Risk.ROUNDING)
        ),
        "final check": _seconds(lambda: for_search.examine(_Copy(1.0), is_final=True)),
    }


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

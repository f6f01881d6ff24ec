"""A scripted device: implements `burnish.devices.port` without running anything.

A binary's image is a `Script` as JSON, so it can be sent to a worker like any other. The kernel
that all scripts play writes into every byte of an ``out`` buffer a checksum of the ``in`` buffers
plus the byte's place, and adds 1 to every byte of an ``inout`` buffer. Time is not spent but
made up, from a seed: drift that all programs share, noise with memory, long samples, and the luck
of placement that a loaded program keeps.
"""

import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, inf, nan, sqrt

import numpy as np

from burnish.devices.port import DeviceState, Image, Place, Program, Regime
from burnish.errors import DeviceError
from burnish.model.workload import Buffer, Role, Workload

TIMERS = {"zero": 0.0, "negative": -3.0, "nan": nan, "inf": inf, "tiny": 1e-9, "huge": 1e12}
FAULTS = ("raise", "exit", "segfault", "hang")


@dataclass(frozen=True)
class Script:
    """What a program does.

    Attributes:
        time_us: True time of a launch.
        times_us: The same for single workloads, by name.
        answers: One of SPOILERS.
        on: The only workload on which the answers are not right; empty for all.
        fault: One of FAULTS, or empty.
        every: The fault comes at every so manieth launch.
        timer: One of TIMERS, or empty for times that can be.
        timer_from: Samples that are fine before the timer fails.
        name: Anything; makes images differ.
    """

    time_us: float = 100.0
    times_us: Mapping[str, float] = field(default_factory=dict)
    answers: str = "right"
    on: str = ""
    fault: str = ""
    every: int = 1
    timer: str = ""
    timer_from: int = 0
    name: str = ""

    @property
    def image(self) -> bytes:
        return json.dumps(asdict(self)).encode()


@dataclass(frozen=True)
class FakeNoise:
    """Shares are of the time; all zero for a device that is exact."""

    paired_share: float = 0.0
    memory: float = 0.0
    drift_share: float = 0.0
    outlier_probability: float = 0.0
    outlier_share: float = 0.3
    placement_share: float = 0.0


QUIET = FakeNoise()
USUAL = FakeNoise(0.01, 0.3, 0.002, 0.02, 0.3, 0.0005)


class FakeProgram:
    def __init__(self, script: Script, placed: float) -> None:
        self.script = script
        self.placed = placed
        self.launches = 0
        self.samples = 0
        self.slow = 0.0
        self.cached: dict[str, Image] = {}
        self.is_open = True

    def close(self) -> None:
        self.is_open = False


@dataclass(frozen=True)
class _Spot:
    """A buffer after a launch, for whoever spoils it."""

    image: Image
    place: Place
    before: Image
    program: FakeProgram
    key: str

    def data(self, image: Image | None = None) -> Image:
        start = self.place.data_offset
        return (self.image if image is None else image)[start : start + self.place.data_bytes]


def _nothing(spot: _Spot) -> None:
    del spot


def _one_byte(spot: _Spot) -> None:
    spot.data()[spot.place.data_bytes // 2] ^= 0x55


def _second_launch(spot: _Spot) -> None:
    if spot.program.launches > 1:
        _one_byte(spot)


def _second_half(spot: _Spot) -> None:
    middle = spot.place.data_bytes // 2
    spot.data()[middle:] = spot.data(spot.before)[middle:]


def _after_the_end(spot: _Spot) -> None:
    spot.image[spot.place.data_offset + spot.place.data_bytes] ^= 0x55


def _before_the_start(spot: _Spot) -> None:
    spot.image[spot.place.data_offset - 1] ^= 0x55


def _from_what_lay_there(spot: _Spot) -> None:
    spot.data()[0] = spot.data(spot.before)[0] ^ 0x55


def _by_launch(spot: _Spot) -> None:
    spot.data()[0] = spot.program.launches % 251


def _as_the_first_time(spot: _Spot) -> None:
    spot.data()[:] = spot.program.cached.setdefault(spot.key, spot.data().copy())


def _change_input(spot: _Spot) -> None:
    spot.data()[0] ^= 0x55


SPOILERS = {
    "right": _nothing,
    "wrong": _one_byte,
    "second": _second_launch,
    "half": _second_half,  # it is not written
    "beyond": _after_the_end,
    "before": _before_the_start,
    "unwritten": _from_what_lay_there,
    "unstable": _by_launch,
    "cached": _as_the_first_time,
    "inputs": _change_input,
}


class FakeSession:
    def __init__(
        self, device: "FakeDevice", workload: Workload, places: Mapping[str, Place], regime: Regime
    ) -> None:
        self.device = device
        self.workload = workload
        self.places = places
        self.regime = regime
        self.buffers = {one.name: one for one in workload.arguments if isinstance(one, Buffer)}
        self.memory: dict[str, Image] = {
            name: np.zeros(place.total_bytes, np.uint8) for name, place in places.items()
        }
        self.uploaded = {name: image.copy() for name, image in self.memory.items()}
        self.log: list[str] = []

    def upload(self, images: Mapping[str, Image]) -> None:
        for name, image in images.items():
            if image.shape != self.memory[name].shape:
                raise DeviceError(f"buffer {name}: {image.shape} for {self.memory[name].shape}")
            self.memory[name][:] = image
            self.uploaded[name] = image.copy()

    def restore(self) -> None:
        self.log.append("restore")
        for name, buffer in self.buffers.items():
            if buffer.role is not Role.IN:
                owner = buffer.view_of or name
                self.memory[owner][:] = self.uploaded[owner]

    def download(self, name: str) -> Image:
        return self.memory[name].copy()

    def launch(self, program: Program) -> None:
        self.log.append("launch")
        self._run(self.device.known(program))

    def time_us(self, program: Program, calls: int) -> float:
        known = self.device.known(program)
        self.log.append(f"time {calls}")
        for _ in range(min(calls, 2)):
            self._run(known)
        known.samples += 1
        script = known.script
        if script.timer and known.samples > script.timer_from:
            return TIMERS[script.timer]
        return self.device.sample_us(known, script.times_us.get(self.workload.name, script.time_us))

    def _run(self, known: FakeProgram) -> None:
        known.launches += 1
        if known.script.fault and known.launches % known.script.every == 0:
            self.device.fail(known.script.fault)
        checksum = sum(int(self._data(name).sum()) for name in self._with(Role.IN))
        before = {name: self.memory[self._owner(name)].copy() for name in self._written()}
        for name in self._with(Role.OUT):
            data = self._data(name)
            data[:] = (checksum + np.arange(len(data))) % 251
        for name in self._with(Role.INOUT):
            self._data(name)[:] += 1
        if known.script.on in {"", self.workload.name}:
            self._spoil(known, before)

    def _spoil(self, known: FakeProgram, before: Mapping[str, Image]) -> None:
        spoil = SPOILERS[known.script.answers]
        touched = self._with(Role.IN) if spoil is _change_input else self._written()
        for name in touched:
            key = f"{self.workload.name} {name}"
            image = self.memory[self._owner(name)]
            spoil(_Spot(image, self._place(name), before.get(name, image), known, key))

    def _with(self, role: Role) -> list[str]:
        return [name for name, buffer in self.buffers.items() if buffer.role is role]

    def _written(self) -> list[str]:
        return [name for name, buffer in self.buffers.items() if buffer.role is not Role.IN]

    def _owner(self, name: str) -> str:
        return self.buffers[name].view_of or name

    def _place(self, name: str) -> Place:
        return self.places[self._owner(name)]

    def _data(self, name: str) -> Image:
        place = self._place(name)
        data = self.memory[self._owner(name)]
        return data[place.data_offset : place.data_offset + place.data_bytes]


@dataclass(frozen=True)
class FakeWindow:
    energy_mj: float
    launches: int
    span_s: float


class FakeDevice:
    """Implements `burnish.devices.port.Device`, and counts energy: 0.2 mJ a microsecond.

    Args:
        seed: Of its noise.
        noise: Of its times.
        throttle: Reasons that `state` names, reading by reading; none after the last.
    """

    def __init__(
        self,
        seed: int = 0,
        noise: FakeNoise = QUIET,
        throttle: Sequence[tuple[str, ...]] = (),
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.noise = noise
        self.throttle = list(throttle)
        self.drift = 0.0
        self.programs: list[FakeProgram] = []

    def load(self, image: bytes, entry: str) -> FakeProgram:
        del entry
        try:
            script = Script(**json.loads(image))
        except (TypeError, ValueError) as error:
            raise DeviceError(f"no script: {error}") from error
        placed = float(self.rng.normal(0, self.noise.placement_share))
        self.programs.append(FakeProgram(script, placed))
        return self.programs[-1]

    def open(self, workload: Workload, places: Mapping[str, Place], regime: Regime) -> FakeSession:
        return FakeSession(self, workload, places, regime)

    def state(self) -> DeviceState:
        reasons = self.throttle.pop(0) if self.throttle else ()
        return DeviceState(clock_mhz=1500.0, throttle=reasons)

    def close(self) -> None:
        self.programs.clear()

    def energy_window(self, session: FakeSession, program: Program, seconds: float) -> FakeWindow:
        once_us = session.time_us(program, 1)
        launches = max(1, round(seconds * 1e6 / abs(once_us))) if abs(once_us) < inf else 0
        return FakeWindow(0.2 * once_us * launches, launches, seconds)

    def known(self, program: Program) -> FakeProgram:
        if not isinstance(program, FakeProgram) or not program.is_open:
            raise DeviceError("the program was not loaded by this device, or is closed already")
        return program

    def sample_us(self, program: FakeProgram, true_us: float) -> float:
        noise = self.noise
        self.drift += float(self.rng.normal(0, noise.drift_share))
        kept = noise.memory * program.slow
        program.slow = kept + sqrt(1 - noise.memory**2) * float(self.rng.normal())
        own = noise.paired_share / sqrt(2) * program.slow
        late = self.rng.random() < noise.outlier_probability
        long = float(self.rng.exponential(noise.outlier_share)) if late else 0.0
        return true_us * exp(self.drift + program.placed + own + long)

    def fail(self, fault: str) -> None:
        if fault == "exit":
            os._exit(3)
        if fault == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        while fault == "hang":
            time.sleep(1)
        raise DeviceError("an illegal address was accessed")


def open_fake() -> FakeDevice:
    """A setup for a worker."""
    return FakeDevice(seed=os.getpid(), noise=USUAL)


def fake_workload(name: str = "one", **changes: object) -> Workload:
    """A workload with an input, an output and a buffer that is updated in place."""
    arguments = (
        Buffer("source", "u8", (64,), fill="integers(0, 99)"),
        Buffer("target", "u8", (64,), Role.OUT),
        Buffer("state", "u8", (16,), Role.INOUT, fill="zeros"),
    )
    return Workload(name, arguments, **changes)  # type: ignore[arg-type]


def fake_places(workload: Workload, guard_bytes: int = 16) -> dict[str, Place]:
    """Guard zones on both sides of each buffer; for dense buffers of one byte an element."""
    return {
        one.name: Place(one.shape[0] + 2 * guard_bytes, guard_bytes, one.shape[0])
        for one in workload.arguments
        if isinstance(one, Buffer) and not one.view_of
    }


def fake_session(device: FakeDevice, workload: Workload | None = None) -> FakeSession:
    """A session with something in its buffers."""
    workload = workload or fake_workload()
    places = fake_places(workload)
    session = device.open(workload, places, Regime.WARM)
    session.upload({name: np.full(p.total_bytes, 7, np.uint8) for name, p in places.items()})
    return session

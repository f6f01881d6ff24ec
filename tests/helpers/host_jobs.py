"""Jobs for a host device: launches as `burnish.verify` and `burnish.measure` do them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from burnish.devices.host import HostDevice, HostSession
from burnish.devices.port import Image, Place, Regime
from burnish.devices.worker import stage
from burnish.model.workload import Argument, Buffer, Role, Scalar, Workload

GUARD = 512


def twice_plus_one(n: int) -> Workload:
    """The workload of `tests/helpers/hostile`."""
    return Workload(
        str(n),
        (
            Buffer("in", "f32", (n,), Role.IN),
            Buffer("out", "f32", (n,), Role.OUT),
            Scalar("n", "i32", n),
        ),
    )


def places_of(arguments: tuple[Argument, ...]) -> dict[str, Place]:
    sizes = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "u8": 1}
    return {
        one.name: Place(2 * GUARD + size, GUARD, size)
        for one in arguments
        if isinstance(one, Buffer) and not one.view_of
        for size in [int(np.prod(one.shape)) * sizes[one.dtype]]
    }


def image_of(data: NDArray[np.generic], place: Place, fill: int = 0xA5) -> Image:
    image: Image = np.full(place.total_bytes, fill, np.uint8)
    image[place.data_offset : place.data_offset + place.data_bytes] = data.view(np.uint8).ravel()
    return image


def open_twice(
    device: HostDevice, n: int, regime: Regime = Regime.WARM
) -> tuple[HostSession, Mapping[str, Place], NDArray[np.float32]]:
    workload = twice_plus_one(n)
    places = places_of(workload.arguments)
    session = device.open(workload, places, regime)
    data = np.linspace(-1, 1, n, dtype=np.float32)
    nothing = np.full(n, np.nan, np.float32)
    session.upload({"in": image_of(data, places["in"]), "out": image_of(nothing, places["out"])})
    return session, places, data


def run_twice_plus_one(
    device: HostDevice, image: bytes, launches: int = 1, n: int = 1000
) -> tuple[bool, bool]:
    """Launch; return whether the output is right and whether the guard zones are whole."""
    stage("load")
    program = device.load(image, "kernel")
    session, places, data = open_twice(device, n)
    stage("run")
    for _ in range(launches):
        session.restore()
        session.launch(program)
    stage("check")
    place = places["out"]
    got = session.download("out")
    end = place.data_offset + place.data_bytes
    right = np.array_equal(got[place.data_offset : end].view(np.float32), 2 * data + 1)
    whole = bool((got[: place.data_offset] == 0xA5).all() and (got[end:] == 0xA5).all())
    program.close()
    return bool(right), whole

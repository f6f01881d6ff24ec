"""What a CUDA device must do, checked alike on a card (tests/gpu) and on the fake driver."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Protocol

import numpy as np
import pytest
from numpy.typing import NDArray

from burnish.bundle.dtypes import DTYPES
from burnish.devices.port import Device, Image, Place, Program, Regime, Resident, Session
from burnish.errors import DeviceError, LaunchError
from burnish.model.frozen import FrozenMap
from burnish.model.workload import Argument, Buffer, Bytes, Role, Scalar, Workload

__all__ = ["CHECKS", "Load", "N", "axpy", "image_of", "launched", "places_of"]

N = 1000
GUARD = 512
X = np.arange(N, dtype=np.float32) / 7
Y = np.linspace(-3, 3, N, dtype=np.float32)

Load = Callable[[str], Program]
Values = Mapping[str, NDArray[np.generic]]


class Closing(Protocol):
    """A session that gives its memory back."""

    def close(self) -> None:
        """Give it back."""


def buffer(name: str, role: Role = Role.IN, n: int = N, dtype: str = "f32") -> Buffer:
    return Buffer(name, dtype, (n,), role)


def workload(*arguments: Argument, n: int = N) -> Workload:
    return Workload("test", arguments, grid=(-(-n // 128), 1, 1), block=(128, 1, 1))


def axpy(n: int = N) -> Workload:
    return workload(
        buffer("x", n=n),
        buffer("y", Role.INOUT, n),
        Scalar("a", "f32", 2.0),
        Scalar("n", "i32", n),
        n=n,
    )


def places_of(work: Workload, guard: int = GUARD) -> dict[str, Place]:
    sizes = {
        one.name: DTYPES[one.dtype].size * int(np.prod(one.shape))
        for one in work.arguments
        if isinstance(one, Buffer) and not one.view_of
    }
    return {name: Place(size + 2 * guard, guard, size) for name, size in sizes.items()}


def image_of(values: NDArray[np.generic], place: Place) -> Image:
    image = np.full(place.total_bytes, 0xA5, np.uint8)
    image[place.data_offset : place.data_offset + place.data_bytes] = np.frombuffer(
        values.tobytes(), np.uint8
    )
    return image


def values_of(image: Image, place: Place) -> NDArray[np.float32]:
    data = image[place.data_offset : place.data_offset + place.data_bytes]
    return np.frombuffer(data.tobytes(), np.float32)


def opened(device: Device, work: Workload, values: Values, regime: Regime = Regime.WARM) -> Session:
    places = places_of(work)
    session = device.open(work, places, regime)
    blank = {name: np.full(place.data_bytes, 0x77, np.uint8) for name, place in places.items()}
    images = {name: image_of(values.get(name, blank[name]), places[name]) for name in places}
    session.upload(images)
    return session


def launched(
    device: Device, program: Program, work: Workload, values: Values, out: str = "y"
) -> NDArray[np.float32]:
    session = opened(device, work, values)
    session.launch(program)
    return values_of(session.download(out), places_of(work)[out])


def a_launch_gives_the_answer_and_leaves_guards_alone(device: Device, load: Load) -> None:
    work, place = axpy(), places_of(axpy())["y"]
    session = opened(device, work, {"x": X, "y": Y})
    session.launch(load("axpy"))
    image = session.download("y")
    assert np.array_equal(values_of(image, place), Y + np.float32(2) * X)
    assert set(image[:GUARD]) == set(image[-GUARD:]) == {0xA5}
    assert np.array_equal(session.download("x"), image_of(X, place))


def what_was_written_is_restored(device: Device, load: Load) -> None:
    work, place = axpy(), places_of(axpy())["y"]
    session = opened(device, work, {"x": X, "y": Y})
    for _ in range(2):
        session.launch(load("axpy"))
        session.restore()
        assert np.array_equal(session.download("y"), image_of(Y, place))
    session.upload({"y": image_of(X, place)})
    session.launch(load("axpy"))
    session.restore()
    assert np.array_equal(session.download("y"), image_of(X, place))


def data_is_aligned_whatever_the_guard(device: Device, load: Load) -> None:
    work = axpy()
    for guard in (0, 4, 36, 256, 1000):
        places = places_of(work, guard)
        session = device.open(work, places, Regime.WARM)
        session.upload({"x": image_of(X, places["x"]), "y": image_of(Y, places["y"])})
        held = resident(session).keep("y", image_of(Y, places["y"]))
        assert held is not None
        assert resident(session).differing("y", held) == 0
        session.launch(load("axpy"))
        found = values_of(session.download("y"), places["y"])
        assert np.array_equal(found, Y + np.float32(2) * X)


def scalars_have_their_width(device: Device, load: Load) -> None:
    out = Buffer("out", "f64", (6,), Role.OUT)
    values = (-3, -300, -70000, -(2**40), 0.1, 0.5)
    dtypes = ("i8", "i16", "i32", "i64", "f64", "f32")
    scalars = [Scalar(f"s{i}", kind, values[i]) for i, kind in enumerate(dtypes)]
    work = Workload("widths", (*scalars, out), block=(32, 1, 1))
    session = opened(device, work, {})
    session.launch(load("widths"))
    place = places_of(work)["out"]
    found = session.download("out")[place.data_offset : place.data_offset + place.data_bytes]
    assert tuple(np.frombuffer(found.tobytes(), np.float64)) == values


def a_struct_holds_pointers(device: Device, load: Load) -> None:
    data = bytes(16) + N.to_bytes(4, "little") + np.float32(3).tobytes()
    struct = Bytes("all", data, ((0, "x"), (8, "y")))
    work = workload(struct, buffer("x"), buffer("y", Role.OUT))
    found = launched(device, load("by_struct"), work, {"x": X})
    assert np.array_equal(found, np.float32(3) * X)


def a_view_shares_memory(device: Device, load: Load) -> None:
    half = N // 2
    view = Buffer("half", "f32", (half,), Role.IN, view_of="x", offset=half)
    n = Scalar("n", "i32", half)
    work = workload(buffer("x"), view, buffer("y", Role.OUT, half), n, n=half)
    found = launched(device, load("add_view"), work, {"x": X})
    assert np.array_equal(found, X[:half] + X[half:])


def a_view_that_is_written_has_its_memory_restored(device: Device, load: Load) -> None:
    view = Buffer("y", "f32", (N // 2,), Role.INOUT, view_of="x", offset=N // 2)
    n = Scalar("n", "i32", N // 2)
    work = workload(buffer("x"), view, Scalar("a", "f32", 1.0), n, n=N // 2)
    session = opened(device, work, {"x": X})
    session.launch(load("axpy"))
    place = places_of(work)["x"]
    found = values_of(session.download("x"), place)
    assert np.array_equal(found[N // 2 :], X[: N // 2] + X[N // 2 :])
    session.restore()
    assert np.array_equal(session.download("x"), image_of(X, place))


def globals_are_set_before_every_launch(device: Device, load: Load) -> None:
    gains = np.array([1, 2, 3, 4], np.float32)
    work = Workload(
        "globals",
        (buffer("x"), buffer("y", Role.OUT), Scalar("n", "i32", N)),
        grid=(-(-N // 128), 1, 1),
        block=(128, 1, 1),
        globals=FrozenMap({"gains": gains.tobytes(), "counter": (5).to_bytes(4, "little")}),
    )
    whole = np.arange(N, dtype=np.float32)  # exact, whether or not the product is fused
    session, program = opened(device, work, {"x": whole}), load("with_globals")
    session.time_us(program, 3)
    for _ in range(2):
        session.launch(program)
        found = values_of(session.download("y"), places_of(work)["y"])
        seen = np.where(np.arange(N) < work.block[0], np.float32(5), np.float32(0))
        assert np.array_equal(found, whole * np.tile(gains, N // 4) + seen)


def a_global_that_is_not_there_is_named(device: Device, load: Load) -> None:
    work = Workload("g", axpy().arguments, block=(32, 1, 1), globals=FrozenMap({"nope": b"1234"}))
    session = opened(device, work, {})
    with pytest.raises(DeviceError, match="global nope of axpy"):
        session.launch(load("axpy"))


def dynamic_shared_memory_goes_past_48_kib(device: Device, load: Load) -> None:
    n = 25_000  # 100,000 bytes
    x = np.arange(n, dtype=np.float32)
    arguments = (buffer("x", n=n), buffer("y", Role.OUT, n), Scalar("n", "i32", n))
    work = Workload("shared", arguments, block=(256, 1, 1), dynamic_shared_bytes=4 * n)
    assert np.array_equal(launched(device, load("reversed"), work, {"x": x}), x[::-1])


def too_much_shared_memory_is_refused(device: Device, load: Load) -> None:
    arguments = (buffer("x"), buffer("y", Role.OUT), Scalar("n", "i32", N))
    work = Workload("shared", arguments, block=(256, 1, 1), dynamic_shared_bytes=1 << 20)
    with pytest.raises(DeviceError, match="asking for 1048576 bytes of shared memory"):
        opened(device, work, {}).launch(load("reversed"))


def wrong_arguments_are_named_before_anything_runs(device: Device, load: Load) -> None:
    few = workload(buffer("x"), buffer("y", Role.INOUT))
    with pytest.raises(LaunchError, match="axpy takes 4 arguments, the launch file gives 2"):
        opened(device, few, {}).launch(load("axpy"))
    wide = workload(*axpy().arguments[:3], Scalar("n", "i64", N))
    with pytest.raises(LaunchError, match=r"argument 3 of axpy \(n\) has 8 bytes, its parameter 4"):
        opened(device, wide, {}).launch(load("axpy"))


def a_missing_entry_and_a_torn_image_are_refused(device: Device, load: Load) -> None:
    with pytest.raises(DeviceError, match="looking for the entry nothing"):
        load("nothing")
    with pytest.raises(DeviceError, match="torn"):
        device.load(b"\x7fELF" + bytes(36) + b"\xff" * 24, "axpy")
    with pytest.raises(DeviceError, match="empty"):
        device.load(b"", "axpy")


def a_closed_program_is_not_launched(device: Device, load: Load) -> None:
    program, session = load("axpy"), opened(device, axpy(), {"x": X, "y": Y})
    session.launch(program)
    program.close()
    program.close()
    with pytest.raises(DeviceError, match="closed"):
        session.launch(program)


def images_can_stay_on_the_card(device: Device, load: Load) -> None:
    work, place = axpy(), places_of(axpy())["y"]
    session = opened(device, work, {"x": X, "y": Y})
    kept = resident(session)
    first, other = kept.keep("y", image_of(Y, place)), kept.keep("y", image_of(X, place))
    assert first is not None
    assert other is not None
    assert kept.differing("y", first) == 0
    session.launch(load("axpy"))
    after = kept.snapshot("y")
    assert after is not None
    assert kept.differing("y", after) == 0
    expected = image_of(Y + np.float32(2) * X, place)
    differ = int(np.count_nonzero(expected != image_of(Y, place)))
    assert kept.differing("y", first) == differ > 0
    kept.put("y", other)
    assert np.array_equal(session.download("y"), image_of(X, place))
    session.launch(load("axpy"))
    kept.release(other)
    session.restore()
    assert np.array_equal(session.download("y"), image_of(X, place))
    with pytest.raises(DeviceError, match="no kept image"):
        kept.put("y", other)


def one_byte_anywhere_is_seen(device: Device, load: Load) -> None:
    del load
    for size in (1, 7, 15, 16, 17, 4099):
        work = workload(buffer("b", Role.OUT, size, "u8"))
        places = places_of(work, guard=0)
        session = device.open(work, places, Regime.WARM)
        image = np.arange(size, dtype=np.uint8)
        session.upload({"b": image})
        kept, digests = resident(session), set()
        held = kept.keep("b", image)
        assert held is not None
        for at in {0, size // 2, size - 1}:
            wrong = image.copy()
            wrong[at] ^= 0x80
            session.upload({"b": wrong})
            assert kept.differing("b", held) == 1
            digests.add(digest_of(session, "b"))
        session.upload({"b": image})
        assert len(digests | {digest_of(session, "b")}) == len({0, size // 2, size - 1}) + 1


def times_are_positive_and_inputs_survive(device: Device, load: Load) -> None:
    place = places_of(axpy())["y"]
    for regime in Regime:
        session = opened(device, axpy(), {"x": X, "y": Y}, regime)
        program = load("axpy")
        assert 0 < session.time_us(program, 70) < 1e6
        found = values_of(session.download("y"), place)
        assert np.array_equal(found, Y + np.float32(2) * X), "each launch began from what was set"


def short_launches_are_timed_as_a_graph(device: Device, load: Load) -> None:
    work = workload(buffer("from"), buffer("to", Role.OUT), Scalar("n", "i32", N // 4))
    session, programs = opened(device, work, {"from": X}), [load("copy"), load("copy")]
    times = [session.time_us(program, 5) for program in programs for _ in range(2)]
    assert all(0 < one < 1e5 for one in times)
    assert str(getattr(session, "method", "")).startswith(("graph of", "events"))
    for program in programs:
        program.close()


def a_session_gives_its_memory_back(device: Device, load: Load) -> None:
    free = []
    for _ in range(4):
        session = device.open(axpy(), places_of(axpy(), guard=1 << 24), Regime.WARM)
        session.time_us(load("axpy"), 1)
        resident(session).snapshot("y")
        closing: Closing = session  # type: ignore[assignment]
        closing.close()
        free.append(device.memory_bytes())  # type: ignore[attr-defined]
    assert all(abs(a - b) < 1 << 22 for a, b in pairwise(free[1:]))


def resident(session: Session) -> Resident:
    assert isinstance(session, Resident)
    return session


def digest_of(session: Session, name: str) -> str:
    return str(session.digest(name))  # type: ignore[attr-defined]


CHECKS: tuple[Callable[[Device, Load], None], ...] = (
    a_launch_gives_the_answer_and_leaves_guards_alone,
    what_was_written_is_restored,
    data_is_aligned_whatever_the_guard,
    scalars_have_their_width,
    a_struct_holds_pointers,
    a_view_shares_memory,
    a_view_that_is_written_has_its_memory_restored,
    globals_are_set_before_every_launch,
    a_global_that_is_not_there_is_named,
    dynamic_shared_memory_goes_past_48_kib,
    too_much_shared_memory_is_refused,
    wrong_arguments_are_named_before_anything_runs,
    a_missing_entry_and_a_torn_image_are_refused,
    a_closed_program_is_not_launched,
    images_can_stay_on_the_card,
    one_byte_anywhere_is_seen,
    times_are_positive_and_inputs_survive,
    short_launches_are_timed_as_a_graph,
    a_session_gives_its_memory_back,
)

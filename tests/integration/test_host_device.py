"""The host as a device: C functions of shared libraries, called with a workload's buffers."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.c import hostile, library
from tests.helpers.host_jobs import GUARD, image_of, open_twice, places_of, run_twice_plus_one

from burnish.devices.host import HostDevice, open_host
from burnish.devices.host_caches import Caches, largest_cache_bytes
from burnish.devices.port import Regime
from burnish.errors import DeviceError, LaunchError
from burnish.model.frozen import FrozenMap
from burnish.model.workload import Argument, Buffer, Bytes, Role, Scalar, Workload

GOOD = hostile("good")


@pytest.fixture
def device() -> Iterator[HostDevice]:
    opened = HostDevice(min(os.sched_getaffinity(0)))
    yield opened
    opened.close()


def test_a_launch_writes_its_output_and_nothing_else(device: HostDevice) -> None:
    assert run_twice_plus_one(device, GOOD) == (True, True)


def test_a_write_past_the_end_lands_in_the_guard_zone(device: HostDevice) -> None:
    assert run_twice_plus_one(device, hostile("out_of_bounds")) == (True, False)


def test_pointers_are_aligned_to_256_bytes(device: HostDevice) -> None:
    code = "void k(long *a, long *b, long *c) { *c = ((long)a | (long)b | (long)c) % 256; }"
    arguments = tuple(Buffer(name, "i64", (3,), Role.OUT) for name in "abc")
    places = places_of(arguments)
    session = device.open(Workload("w", arguments), places, Regime.WARM)
    session.launch(device.load(library(code), "k"))
    assert not session.download("c")[GUARD : GUARD + 8].any()


def test_every_kind_of_scalar_arrives(device: HostDevice) -> None:
    kinds = {
        "i8": ("signed char", -7),
        "i16": ("short", -30000),
        "i32": ("int", -2_000_000_000),
        "i64": ("long", -(2**62)),
        "u8": ("unsigned char", 250),
        "u16": ("unsigned short", 65000),
        "u32": ("unsigned", 4_000_000_000),
        "u64": ("unsigned long", 2**64 - 1),
        "f32": ("float", 0.1),
        "f64": ("double", 0.1),
        "bool": ("_Bool", True),
    }
    parameters = ", ".join(f"{c} {name}" for name, (c, _) in kinds.items())
    tests = " && ".join(
        f"{name} == ({c}){value!r}{'u' if name == 'u64' else ''}".replace("True", "1")
        for name, (c, value) in kinds.items()
    )
    code = f"void k({parameters}, int *ok) {{ *ok = {tests}; }}"
    arguments: tuple[Argument, ...] = (
        *(Scalar(name, name, value) for name, (_, value) in kinds.items()),
        Buffer("ok", "i32", (1,), Role.OUT),
    )
    session = device.open(Workload("w", arguments), places_of(arguments), Regime.WARM)
    session.launch(device.load(library(code), "k"))
    assert session.download("ok")[GUARD] == 1


def test_a_struct_arrives_with_its_pointers(device: HostDevice) -> None:
    code = """
        struct s { int *out; double factor; int n; char tail[5]; };
        void k(struct s s, int *unused, int after) { *s.out = s.factor * s.n + s.tail[4] + after; }
    """
    data = np.zeros(
        1, [("out", "u8"), ("factor", "f8"), ("n", "i4"), ("tail", "i1", 5), ("_", "i1", 7)]
    )
    data["factor"], data["n"], data["tail"] = 2.5, 4, [0, 0, 0, 0, 3]
    arguments = (
        Bytes("s", data.tobytes(), ((0, "out"),)),
        Buffer("out", "i32", (1,), Role.OUT),
        Scalar("after", "i32", 100),
    )
    session = device.open(Workload("w", arguments), places_of(arguments), Regime.WARM)
    session.launch(device.load(library(code), "k"))
    assert session.download("out")[GUARD] == 113


@pytest.mark.parametrize(
    "argument",
    [
        Bytes("pair", bytes(16)),
        Bytes("s", bytes(24), ((20, "b"),)),
        Bytes("s", bytes(24), ((0, "nobody"),)),
        Scalar("half", "f16", 1.0),
    ],
)
def test_what_cannot_be_passed_is_refused(device: HostDevice, argument: Bytes | Scalar) -> None:
    arguments = (argument, Buffer("b", "f32", (1,)))
    with pytest.raises(LaunchError, match=argument.name):
        device.open(Workload("w", arguments), places_of(arguments), Regime.WARM)


def test_a_small_struct_of_pointers_is_no_riddle(device: HostDevice) -> None:
    code = "struct s { int *a, *b; }; void k(struct s s) { *s.a = 1; *s.b = 2; }"
    arguments = (
        Bytes("s", bytes(16), ((0, "a"), (8, "b"))),
        Buffer("a", "i32", (1,), Role.OUT),
        Buffer("b", "i32", (1,), Role.OUT),
    )
    session = device.open(Workload("w", arguments), places_of(arguments), Regime.WARM)
    session.launch(device.load(library(code), "k"))
    assert [session.download(name)[GUARD] for name in "ab"] == [1, 2]


def test_a_view_shares_the_memory_that_it_views(device: HostDevice) -> None:
    code = "void k(int *whole, int *part) { part[0] = whole[0] + 5; }"
    whole = Buffer("whole", "i32", (8,))
    part = Buffer("part", "i32", (4,), Role.OUT, view_of="whole", offset=4)
    places = places_of((whole,))
    session = device.open(Workload("w", (whole, part)), places, Regime.WARM)
    session.upload({"whole": image_of(np.arange(10, 18, dtype=np.int32), places["whole"])})
    session.launch(device.load(library(code), "k"))
    got = session.download("whole")[GUARD:-GUARD].view(np.int32)
    assert got.tolist() == [10, 11, 12, 13, 15, 15, 16, 17]
    session.restore()
    got = session.download("whole")[GUARD:-GUARD].view(np.int32)
    assert got.tolist() == list(range(10, 18))


def test_restore_brings_back_what_a_launch_wrote(device: HostDevice) -> None:
    program = device.load(hostile("accumulates"), "kernel")
    session, places, data = open_twice(device, 100)
    session.upload({"out": image_of(np.ones(100, np.float32), places["out"])})
    for _ in range(3):
        session.restore()
        session.launch(program)
    got = session.download("out")[GUARD:-GUARD].view(np.float32)
    assert np.array_equal(got, 2 * data + 1 + 1)


def test_globals_are_set_before_every_launch(device: HostDevice) -> None:
    code = "int start = 5; void k(int *out) { *out = start++; }"
    arguments = (Buffer("out", "i32", (1,), Role.OUT),)
    value = FrozenMap({"start": np.int32(41).tobytes()})
    workload = Workload("w", arguments, globals=value)
    session = device.open(workload, places_of(arguments), Regime.WARM)
    program = device.load(library(code), "k")
    for _ in range(2):
        session.launch(program)
        assert session.download("out")[GUARD] == 41
    absent = Workload("w", arguments, globals=FrozenMap({"nothing": bytes(4)}))
    with pytest.raises(DeviceError, match="no symbol 'nothing'"):
        device.open(absent, places_of(arguments), Regime.WARM).launch(program)


def test_a_kernel_that_changes_the_floating_point_mode_harms_no_neighbour(
    device: HostDevice,
) -> None:
    assert run_twice_plus_one(device, hostile("changes_floats"), launches=2) == (True, True)
    tiny = np.array([5e-324])
    assert (tiny * 1.0)[0] != 0
    assert float(np.float64(1) / np.float64(3)) == 0.3333333333333333
    assert np.float64(1) + np.float64(2) ** -52 * 0.75 != 1


@pytest.mark.parametrize("image", [b"", b"\x7fELF", b"nonsense" * 100])
def test_what_is_no_library_is_refused(device: HostDevice, image: bytes) -> None:
    with pytest.raises(DeviceError, match="cannot be loaded"):
        device.load(image, "k")


def test_a_library_that_lacks_a_function_of_others_is_refused(device: HostDevice) -> None:
    image = library("void nowhere(void); void k(void) { nowhere(); }")
    with pytest.raises(DeviceError, match="nowhere"):
        device.load(image, "k")


def test_a_missing_entry_is_refused(device: HostDevice) -> None:
    with pytest.raises(DeviceError, match="no symbol 'other'"):
        device.load(GOOD, "other")


def test_a_closed_program_does_not_run(device: HostDevice) -> None:
    program = device.load(GOOD, "kernel")
    session, _, _ = open_twice(device, 10)
    program.close()
    program.close()
    with pytest.raises(DeviceError, match="closed already"):
        session.launch(program)


def test_many_libraries_of_one_entry_are_kept_apart(device: HostDevice) -> None:
    arguments = (Buffer("out", "i32", (1,), Role.OUT),)
    session = device.open(Workload("w", arguments), places_of(arguments), Regime.WARM)
    programs = [
        device.load(library(f"void k(int *out) {{ *out = {number}; }}"), "k") for number in range(5)
    ]
    for number in (3, 0, 4, 2, 1, 3):
        session.launch(programs[number])
        assert session.download("out")[GUARD] == number
    programs[2].close()
    programs[2] = device.load(library("void k(int *out) { *out = 77; }"), "k")
    session.launch(programs[2])
    assert session.download("out")[GUARD] == 77
    session.launch(programs[4])
    assert session.download("out")[GUARD] == 4


def test_two_thousand_loads_cost_no_memory(device: HostDevice) -> None:
    def load(times: int) -> None:
        for _ in range(times):
            device.load(GOOD, "kernel").close()

    load(50)
    before = resident_kib(), descriptors(), maps()
    load(2000)
    after = resident_kib(), descriptors(), maps()
    assert after[0] - before[0] < 2000
    assert after[1:] == before[1:]


def resident_kib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1024


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def maps() -> int:
    return Path("/proc/self/maps").read_text().count("burnish-kernel")


def test_sessions_give_their_memory_back(device: HostDevice) -> None:
    def use() -> None:
        session, _, _ = open_twice(device, 1_000_000)
        session.launch(program)

    program = device.load(GOOD, "kernel")
    use()
    before = resident_kib()
    for _ in range(20):
        use()
    assert resident_kib() - before < 8000


def test_without_memory_files_a_library_is_loaded_from_a_file(
    device: HostDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str, _flags: int) -> int:
        raise OSError

    monkeypatch.setattr(os, "memfd_create", refuse)
    assert run_twice_plus_one(device, GOOD) == (True, True)


# Timing.


@pytest.mark.parametrize("regime", list(Regime))
@pytest.mark.parametrize("calls", [1, 5, 30])
def test_a_time_is_that_of_one_launch(device: HostDevice, regime: Regime, calls: int) -> None:
    code = """
        #include <time.h>
        void kernel(const float *in, float *out, int n) {
            struct timespec ms = {0, 1000000};
            nanosleep(&ms, 0);
        }
    """
    session, _, _ = open_twice(device, 10, regime)
    us = session.time_us(device.load(library(code), "kernel"), calls)
    assert 1000 <= us < 20_000


def test_as_many_launches_are_made_as_asked_for(device: HostDevice) -> None:
    code = "void k(int *out) { ++*out; }"
    for role in (Role.OUT, Role.INOUT):
        arguments = (Buffer("out", "i32", (1,), role),)
        places = places_of(arguments)
        session = device.open(Workload("w", arguments), places, Regime.WARM)
        session.upload({"out": image_of(np.zeros(1, np.int32), places["out"])})
        session.time_us(device.load(library(code), "k"), 23)
        made = session.download("out")[GUARD : GUARD + 4].view(np.int32)[0]
        assert made == (23 if role is Role.OUT else 1)


def test_no_launches_cannot_be_timed(device: HostDevice) -> None:
    session, _, _ = open_twice(device, 10)
    with pytest.raises(DeviceError, match="0 launches"):
        session.time_us(device.load(GOOD, "kernel"), 0)


def test_cold_launches_find_nothing_in_the_caches(device: HostDevice) -> None:
    code = """
        void kernel(const float *in, float *out, int n) {
            float sum = 0;
            for (int i = 0; i < n; i += 16) sum += in[i];
            out[0] = sum;
        }
    """
    program = device.load(library(code), "kernel")
    times_us = {}
    for regime in Regime:
        session, _, _ = open_twice(device, 200_000, regime)
        session.time_us(program, 5)
        times_us[regime] = min(session.time_us(program, 11) for _ in range(3))
    assert times_us[Regime.COLD] > 1.3 * times_us[Regime.WARM]


def test_what_is_flushed_exceeds_the_largest_cache() -> None:
    caches = Caches(0)
    assert caches.flush_bytes > caches.largest_bytes > 100_000


def test_cache_sizes_are_read_from_the_system(tmp_path: Path) -> None:
    for index, size in enumerate(["48K", "2048K", "1152M"]):
        folder = tmp_path / "cpu3" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        (folder / "size").write_text(size + "\n")
    assert largest_cache_bytes(3, tmp_path) == 1152 << 20


def test_a_system_that_says_nothing_is_taken_to_have_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sysconf", lambda _name: 0)
    assert largest_cache_bytes(0, tmp_path) == 64 << 20


def test_a_pinned_device_stays_on_one_core() -> None:
    before = os.sched_getaffinity(0)
    try:
        open_host().close()
        assert os.sched_getaffinity(0) == {max(before)}
    finally:
        os.sched_setaffinity(0, before)
    open_host(pin=False).close()
    assert os.sched_getaffinity(0) == before


def test_a_call_costs_little(device: HostDevice) -> None:
    program = device.load(library("void kernel(void) { }"), "kernel")
    session, _, _ = open_twice(device, 10)
    assert min(session.time_us(program, 2000) for _ in range(5)) < 10
    started = time.perf_counter()
    session.launch(program)
    assert time.perf_counter() - started < 0.01

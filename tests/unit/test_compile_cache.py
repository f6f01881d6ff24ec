import multiprocessing
import os
import time
from pathlib import Path

import pytest

from burnish.toolchain.cache import CompileCache

KEY = "ab" * 32


def key(number: int) -> str:
    return f"{number % 7:02x}{number:030x}"


def held_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def cache(tmp_path: Path) -> CompileCache:
    return CompileCache(tmp_path / "cache", 1 << 20)


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 200])
def test_what_was_put_comes_back(cache: CompileCache, payload: bytes) -> None:
    assert cache.get(KEY) is None
    cache.put(KEY, payload)
    assert cache.get(KEY) == payload


def test_another_instance_sees_it(cache: CompileCache, tmp_path: Path) -> None:
    cache.put(KEY, b"one")
    assert CompileCache(tmp_path / "cache", 1 << 20).get(KEY) == b"one"
    cache.put(KEY, b"two")
    assert CompileCache(tmp_path / "cache", 1 << 20).get(KEY) == b"two"


@pytest.mark.parametrize("damage", ["flip", "cut", "grow", "empty"])
def test_a_damaged_entry_is_a_miss_and_goes(
    cache: CompileCache, tmp_path: Path, damage: str
) -> None:
    cache.put(KEY, b"payload" * 10)
    path = next(path for path in tmp_path.rglob("*") if path.is_file())
    whole = path.read_bytes()
    flipped = whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]
    damaged = {"flip": flipped, "cut": whole[:-1], "grow": whole + b"x", "empty": b""}
    path.write_bytes(damaged[damage])
    assert cache.get(KEY) is None
    assert not path.exists()
    cache.put(KEY, b"again")
    assert cache.get(KEY) == b"again"


def test_a_folder_that_cannot_be_used_is_an_empty_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CompileCache(tmp_path / "file", 1 << 20)
    cache.put(KEY, b"x")
    assert cache.get(KEY) is None


def test_a_write_that_fails_leaves_nothing(
    cache: CompileCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    cache.put(KEY, b"x")
    monkeypatch.undo()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 100_000)
    for number in range(60):
        cache.put(key(number), bytes(1000))
        cache.get(key(0))
        time.sleep(0.002)  # times of change are as fine as the file system's clock
    for number in range(60, 120):
        cache.put(key(number), bytes(1000))
    assert held_bytes(tmp_path) <= 100_000 * 17 / 16
    assert cache.get(key(119)) is not None
    assert cache.get(key(0)) is not None
    assert cache.get(key(1)) is None


def test_what_is_too_big_is_not_kept(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 16_000)
    cache.put(KEY, bytes(1001))
    assert cache.get(KEY) is None


def test_files_of_killed_writers_go_in_time(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, 16_000)
    cache.put(KEY, b"x")
    folder = tmp_path / KEY[:2]
    for name, age_s in ((".new-1-1", 7200), (".new-1-2", 0)):
        (folder / name).write_bytes(b"half")
        then_ns = time.time_ns() - age_s * 10**9
        os.utime(folder / name, ns=(then_ns, then_ns))
    CompileCache(tmp_path, 16_000).put(KEY, b"y")  # its first put looks around
    assert sorted(path.name for path in folder.glob(".*")) == [".new-1-2"]


def _work(folder: Path, seed: int) -> int:
    """Put and get with others; return how often something wrong came back."""
    cache = CompileCache(folder, 60_000)
    wrong = 0
    for step in range(120):
        number = (step * 37 + seed * 11) % 97
        payload = number.to_bytes(4, "big") * (50 + number * 5)
        seen = cache.get(key(number))
        wrong += seen is not None and seen != payload
        cache.put(key(number), payload)
    return wrong


def test_many_processes_share_a_folder(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        results = pool.starmap(_work, [(tmp_path, seed) for seed in range(4)])
    assert results == [0, 0, 0, 0]
    assert held_bytes(tmp_path) <= 60_000 * (1 + 4 / 16)
    assert list(tmp_path.rglob(".new-*")) == []


def test_a_writer_that_is_killed_harms_nobody(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=_forever, args=(tmp_path,))
    worker.start()
    cache = CompileCache(tmp_path, 60_000)
    deadline = time.perf_counter() + 20
    while cache.get(key(5)) is None and time.perf_counter() < deadline:
        time.sleep(0.01)
    worker.kill()
    worker.join()
    for number in range(97):
        seen = cache.get(key(number))
        assert seen in {None, number.to_bytes(4, "big") * (50 + number * 5)}


def _forever(folder: Path) -> None:
    while True:
        _work(folder, 1)

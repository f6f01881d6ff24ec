import contextlib
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.cubin.digest import binary_digest
from burnish.cubin.facts import entries, facts
from burnish.errors import KernelError

MIXED = (Path(__file__).parents[1] / "data" / "mixed.cubin").read_bytes()
NAME = "_Z5talksPfi"
TABLE = int.from_bytes(MIXED[40:48], "little")
WHERE = st.integers(0, 63) | st.integers(TABLE, len(MIXED) - 1) | st.integers(0, len(MIXED) - 1)


def read(data: bytes) -> None:
    with contextlib.suppress(KernelError):
        entries(data)
    with contextlib.suppress(KernelError):
        facts(data, NAME, 0)
    with contextlib.suppress(KernelError):
        binary_digest(data, NAME)


@given(st.integers(0, len(MIXED)))
@settings(max_examples=100, deadline=None)
def test_a_truncated_cubin_is_read_or_refused(length: int) -> None:
    read(MIXED[:length])


@given(st.lists(st.tuples(WHERE, st.binary(min_size=1, max_size=8)), min_size=1, max_size=6))
@settings(max_examples=250, deadline=None)
def test_a_damaged_cubin_is_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(MIXED)
    for offset, value in changes:
        data[offset : offset + len(value)] = value
    read(bytes(data[: len(MIXED)]))


@given(st.binary(max_size=300))
def test_garbage_is_refused(data: bytes) -> None:
    read(data)
    read(b"\x7fELF\x02\x01\x01" + data)

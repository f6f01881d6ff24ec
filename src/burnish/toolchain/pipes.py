"""The pipes between us and one child: read up to a bound, never waiting for ever."""

import os
import select
import time

__all__ = ["Pipes"]

_CHUNK_BYTES = 1 << 16


class Pipes:
    """Output, error, and a pipe that nobody writes to: it closes with the last descendant.

    Attributes:
        writers: The ends for the child: output, error, the silent one.
        texts: What was read from each.
        full: Whether more came than the bound allows.
    """

    __slots__ = ("_bound", "_poll", "_readers", "full", "texts", "writers")

    def __init__(self, bound_bytes: int) -> None:
        self._bound = bound_bytes
        self._poll = select.poll()
        self._readers: dict[int, bytearray] = {}
        self.full = False
        self.texts = (bytearray(), bytearray(), bytearray())
        self.writers: list[int] = []

    def open(self) -> None:
        """Make the pipes; on an error, `close` what there is."""
        for text in self.texts:
            reader, writer = os.pipe()
            self._readers[reader] = text
            self.writers.append(writer)
            self._poll.register(reader, select.POLLIN)

    def close_writers(self) -> None:
        """Close our copies of the child's ends."""
        while self.writers:
            os.close(self.writers.pop())

    def close(self) -> None:
        """Close everything."""
        self.close_writers()
        for reader in list(self._readers):
            self._drop(reader)

    def watch(self, descriptor: int) -> None:
        """Let `step` wake up for another descriptor too."""
        self._poll.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Undo `watch`."""
        self._poll.unregister(descriptor)

    @property
    def inodes(self) -> frozenset[int]:
        """The pipes that somebody still holds."""
        return frozenset(os.fstat(reader).st_ino for reader in self._readers)

    @property
    def held(self) -> bool:
        """Whether somebody still holds a pipe."""
        return bool(self._readers)

    def step(self, wait_s: float) -> list[int]:
        """Wait for news and read it; return the watched descriptors that woke up."""
        woken = []
        for descriptor, _ in self._poll.poll(max(0, round(wait_s * 1000 + 0.5))):
            if descriptor in self._readers:
                self._read(descriptor)
            else:
                woken.append(descriptor)
        return woken

    def drain(self, within_s: float) -> None:
        """Read until every pipe is closed, too much came, or time is up."""
        deadline = time.perf_counter() + within_s
        while self._readers and not self.full:
            left_s = deadline - time.perf_counter()
            self.step(max(0.0, left_s))
            if left_s <= 0:
                return

    def _read(self, reader: int) -> None:
        chunk = os.read(reader, _CHUNK_BYTES)
        if not chunk:
            self._drop(reader)
            return
        room = self._bound - sum(map(len, self.texts))
        self._readers[reader] += chunk[:room]
        self.full = self.full or len(chunk) > room

    def _drop(self, reader: int) -> None:
        self._poll.unregister(reader)
        del self._readers[reader]
        os.close(reader)

"""Messages between a worker and its parent: a letter, a length, a body.

The parent never waits for ever (`Channel`); the worker does (`Pipe`), as it has nothing else to
do. Bodies are pickles. What a body names in the user's main module is found on the other side
too: see `unpack`.
"""

import io
import os
import pickle
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable

__all__ = ["BROKEN", "Channel", "Closed", "Pipe", "Silent", "pack", "unpack"]

# What reading a pickle that makes no sense may raise (its sender may have overwritten itself).
BROKEN = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)

_HEAD = struct.Struct("<cQ")
_SLICE_S = 0.1
_PIECE_BYTES = 1 << 20


class Closed(Exception):  # noqa: N818 - news, not an error
    """The other side is gone."""


class Silent(Exception):  # noqa: N818 - news, not an error
    """The other side said nothing in time."""


class Channel:
    """The parent's end: a socket with deadlines.

    Args:
        end: The socket.
        is_over: Whether the worker has ended. Asked now and then, as a child of the worker may
            hold the other end of the socket open.
    """

    __slots__ = ("_end", "_is_over")

    def __init__(self, end: socket.socket, is_over: Callable[[], bool]) -> None:
        self._end = end
        self._is_over = is_over

    def send(self, letter: bytes, body: bytes, deadline_s: float) -> None:
        """Send a message.

        Raises:
            Closed: The other side is gone.
            Silent: The other side did not take it in time.
        """
        view = memoryview(_HEAD.pack(letter, len(body)) + body)
        while view:
            self._end.settimeout(self._slice(deadline_s))
            try:
                view = view[self._end.send(view) :]
            except TimeoutError:
                continue
            except OSError:
                raise Closed from None

    def receive(self, deadline_s: float) -> tuple[bytes, bytes]:
        """Wait for a message: its letter and body.

        Raises:
            Closed: The other side is gone.
            Silent: Nothing, or half a message, came in time.
        """
        letter, length = _HEAD.unpack(self._take(_HEAD.size, deadline_s))
        return letter, self._take(length, deadline_s)

    def close(self) -> None:
        """Close it; the worker takes that as its end."""
        self._end.close()

    def _take(self, length: int, deadline_s: float) -> bytes:
        taken = bytearray()
        while len(taken) < length:
            self._end.settimeout(self._slice(deadline_s))
            try:
                piece = self._end.recv(min(length - len(taken), _PIECE_BYTES))
            except TimeoutError:
                if self._is_over() and not self._has_more():
                    raise Closed from None
                continue
            except OSError:
                raise Closed from None
            if not piece:
                raise Closed
            taken += piece
        return bytes(taken)

    def _has_more(self) -> bool:
        self._end.settimeout(0)
        try:
            return bool(self._end.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def _slice(self, deadline_s: float) -> float:
        left_s = deadline_s - time.perf_counter()
        if left_s <= 0:
            raise Silent
        return min(left_s, _SLICE_S)


class Pipe:
    """The worker's end: a descriptor, read by one thread and written by any."""

    __slots__ = ("_descriptor", "_lock")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, letter: bytes, body: bytes = b"") -> None:
        """Send a message; raises OSError where the parent is gone."""
        with self._lock:
            view = memoryview(_HEAD.pack(letter, len(body)) + body)
            while view:
                view = view[os.write(self._descriptor, view) :]

    def receive(self) -> tuple[bytes, bytes]:
        """Wait for a message; an empty letter means that the parent hung up."""
        head = self._take(_HEAD.size)
        if head is None:
            return b"", b""
        letter, length = _HEAD.unpack(head)
        body = self._take(length)
        return (b"", b"") if body is None else (letter, body)

    def _take(self, length: int) -> bytes | None:
        taken = bytearray()
        while len(taken) < length:
            try:
                piece = os.read(self._descriptor, min(length - len(taken), _PIECE_BYTES))
            except OSError:
                return None
            if not piece:
                return None
            taken += piece
        return bytes(taken)


def pack(value: object) -> bytes:
    """Make a body; raises what pickle raises where that cannot be done."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(body: bytes, main: Callable[[], None] | None = None) -> object:
    """Read a body; raises one of `BROKEN`, or what importing a module raises.

    Args:
        body: What `pack` made.
        main: Called before a name of the parent's main module is looked up in a worker. The
            parent gives None: a worker's copy of its main module is its main module.
    """
    return _Reader(body, main).load()


class _Reader(pickle.Unpickler):  # noqa: S301 - what it reads comes from our own child or parent
    def __init__(self, body: bytes, main: Callable[[], None] | None) -> None:
        super().__init__(io.BytesIO(body))
        self._main = main

    def find_class(self, module_name: str, global_name: str) -> object:
        if module_name == "__main__" and self._main is not None:
            self._main()
        if module_name == "__mp_main__" and module_name not in sys.modules:
            module_name = "__main__"
        found: object = super().find_class(module_name, global_name)
        return found

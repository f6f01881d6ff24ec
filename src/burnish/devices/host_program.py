"""A shared library in this process, and a function of it."""

import _ctypes
import ctypes
import os
import tempfile
from collections.abc import Mapping

from burnish.errors import DeviceError

__all__ = ["FloatEnvironment", "HostProgram"]

_FUNCTION = ctypes.CFUNCTYPE(None)
_ENVIRONMENT_BYTES = 256  # fenv_t has 32 on x86-64, 8 on AArch64
_OURS = ctypes.CDLL(None)


class HostProgram:
    """A loaded library, ready to call its entry.

    Args:
        image: The shared library.
        entry: Name of the function.

    Raises:
        DeviceError: It cannot be loaded, or has no such function.
    """

    def __init__(self, image: bytes, entry: str) -> None:
        self.entry = entry
        self._file, self._handle = _load(image)
        try:
            self.call = _FUNCTION(self.address(entry))
        except DeviceError:
            self.close()
            raise

    @property
    def is_open(self) -> bool:
        """Whether it is loaded."""
        return self._handle != 0

    def address(self, symbol: str) -> int:
        """Where a symbol of the library lies.

        Raises:
            DeviceError: There is none of that name.
        """
        try:
            return _ctypes.dlsym(self._handle, symbol)
        except OSError:
            raise DeviceError(f"the binary has no symbol {symbol!r}") from None

    def set_globals(self, values: Mapping[str, bytes]) -> None:
        """Set global variables of the library."""
        for symbol, value in values.items():
            ctypes.memmove(self.address(symbol), value, len(value))

    def close(self) -> None:
        """Unload it."""
        if self._handle:
            _ctypes.dlclose(self._handle)
            self._handle = 0
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class FloatEnvironment:
    """Rounding mode, flush-to-zero and the like, as they were when this was made.

    A kernel may leave them changed, and with them the results of everything that runs later.
    """

    def __init__(self) -> None:
        self._saved = ctypes.create_string_buffer(_ENVIRONMENT_BYTES)
        self._restore = _OURS.fesetenv
        _OURS.fegetenv(self._saved)

    def restore(self) -> None:
        """Bring them back."""
        self._restore(self._saved)


def _load(image: bytes) -> tuple[int, int]:
    """Load a library from memory: the descriptor to keep, and the handle.

    The loader takes a library of a name that it knows for the same one. The name is made of
    the descriptor, so that stays open as long as the library is loaded.
    """
    try:
        file = os.memfd_create("burnish-kernel", os.MFD_CLOEXEC)
    except OSError:
        return _load_from_file(image)
    try:
        _write(file, image)
        return file, _ctypes.dlopen(f"/proc/self/fd/{file}", os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError:
        os.close(file)
        return _load_from_file(image)


def _load_from_file(image: bytes) -> tuple[int, int]:
    """For systems that execute nothing from memory files, and for a message with reasons."""
    with tempfile.NamedTemporaryFile(prefix="burnish-", suffix=".so") as file:
        file.write(image)
        file.flush()
        try:
            return -1, _ctypes.dlopen(file.name, os.RTLD_NOW | os.RTLD_LOCAL)
        except OSError as error:
            reason = str(error).replace(file.name, "the library")
            raise DeviceError(f"the binary cannot be loaded: {reason}") from None


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]

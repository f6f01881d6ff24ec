"""The caches of a core: how large they are, and how they are emptied of what a kernel uses."""

import os
from pathlib import Path

import numpy as np

__all__ = ["Caches", "largest_cache_bytes"]

_SYSTEM = Path("/sys/devices/system/cpu")
_UNKNOWN_BYTES = 64 << 20  # more than most cores have to themselves
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_C_LIBRARY = ("SC_LEVEL4_CACHE_SIZE", "SC_LEVEL3_CACHE_SIZE", "SC_LEVEL2_CACHE_SIZE")


class Caches:
    """What a core has between itself and memory.

    Args:
        core: The core that kernels run on.

    Attributes:
        largest_bytes: Size of the largest cache that the core uses.
        flush_bytes: How much `flush` reads: always more than that.
    """

    def __init__(self, core: int) -> None:
        self.largest_bytes = largest_cache_bytes(core)
        self.flush_bytes = self.largest_bytes * 3 // 2
        self._filler = np.ones(self.flush_bytes // 8, np.int64)
        assert self._filler.nbytes > self.largest_bytes

    def flush(self) -> None:
        """Read so much that nothing else is left in the caches.

        Reading, not writing: what was written would have to be written back while the kernel
        runs, and a library may write large blocks past the caches.
        """
        self._filler.max()


def largest_cache_bytes(core: int, system: Path = _SYSTEM) -> int:
    """Size of the largest cache that a core uses, as the system says it; 64 MiB where unsaid."""
    sizes = [_size(path) for path in system.glob(f"cpu{core}/cache/index*/size")]
    sizes += [_configured(name) for name in _C_LIBRARY]
    return max(sizes, default=0) or _UNKNOWN_BYTES


def _size(path: Path) -> int:
    try:
        text = path.read_text().strip()
    except OSError:
        return 0
    number, unit = text[:-1], _UNITS.get(text[-1:].upper())
    if unit is None:
        number, unit = text, 1
    return int(number) * unit if number.isdecimal() else 0


def _configured(name: str) -> int:
    try:
        return os.sysconf(name)
    except (OSError, ValueError):
        return 0

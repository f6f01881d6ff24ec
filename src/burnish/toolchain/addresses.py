"""Memory at the same addresses in every run of a child.

ptxas 13.3 to 13.5 were seen to give one of several codes for the same input on sm_100a, from run
to run; with address randomisation off, always the same one
(docs/decisions/0006-fixed-addresses.md).
"""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["fixed_addresses"]

_ADDR_NO_RANDOMIZE = 0x0040000  # linux/personality.h
_ASK = 0xFFFFFFFF


@contextmanager
def fixed_addresses() -> Iterator[None]:
    """Children started on this thread get no address randomisation, where the system allows it."""
    import ctypes  # loaded by those who start something

    try:
        personality = ctypes.CDLL(None).personality
    except (AttributeError, OSError):  # no such call here
        yield
        return
    before = personality(_ASK)
    if before == -1 or personality(before | _ADDR_NO_RANDOMIZE) == -1:  # a sandbox forbids it
        yield
        return
    try:
        yield
    finally:
        personality(before)

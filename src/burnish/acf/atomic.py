"""Files that are there whole or not at all, whatever dies and whoever else writes."""

# ruff: noqa: PTH105, PTH108, PTH116, PTH118, PTH123
# A build that is done from memory loads this, and pathlib would cost it 8 ms.

import os
import stat

__all__ = ["write_whole"]


def write_whole(path: str | os.PathLike[str], data: bytes, mode: int | None = None) -> None:
    """Write a file next to its place and move it there.

    Args:
        path: The file. A symbolic link is followed; a device or a pipe is written to.
        data: What shall be in it.
        mode: Its permissions; None for what the user's umask gives.

    Raises:
        OSError: It cannot be written. What was there before is still there.
    """
    place = os.path.realpath(path)
    if _is_stream(place):
        with open(place, "wb") as stream:
            stream.write(data)
        return
    folder, name = os.path.split(place)
    temporary = os.path.join(folder, f".{name[:100]}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            if mode is not None:
                os.fchmod(descriptor, mode)
        os.replace(temporary, place)
    except BaseException:
        os.unlink(temporary)
        raise


def _is_stream(place: str) -> bool:
    """Whether it is a device, a pipe or a socket: nothing to replace."""
    try:
        mode = os.stat(place).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)

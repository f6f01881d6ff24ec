"""Files that are there whole or not at all, whatever dies and whoever else writes."""

import os
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file next to its place and move it there.

    Args:
        path: The file. A symbolic link is followed.
        data: What shall be in it.
        mode: Its permissions; None for what the user's umask gives.

    Raises:
        OSError: It cannot be written. What was there before is still there.
    """
    place = Path(os.path.realpath(path))
    temporary = place.with_name(f".{place.name[:100]}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            if mode is not None:
                os.fchmod(descriptor, mode)
        temporary.replace(place)
    except BaseException:
        temporary.unlink()
        raise

"""Reads the files that a launch file is, or names."""

from pathlib import Path

from burnish.errors import LaunchError

__all__ = ["read_file", "refuse_odd"]


def read_file(path: Path) -> bytes:
    """What is in a file.

    Raises:
        LaunchError: It cannot be read.
    """
    try:
        refuse_odd(path)
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero in it
        why = getattr(error, "strerror", None) or error
        raise LaunchError(f"{path} cannot be read: {why}") from None


def refuse_odd(path: Path) -> None:
    """Refuse what is there and is no file: a pipe may never end, and says nothing twice.

    Raises:
        LaunchError: It is a pipe, a device or a folder.
    """
    if path.exists() and not path.is_file():
        raise LaunchError(f"{path} is no regular file; write what it says into one")

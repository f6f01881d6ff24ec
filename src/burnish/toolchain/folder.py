"""A folder for the files of one call of a compiler."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["own_folder"]


@contextmanager
def own_folder(parent: Path, *, parents: bool = False) -> Iterator[Path]:
    """Make a folder that nobody else can look into, and remove it with all that is in it then.

    Args:
        parent: Where.
        parents: Whether that is made, too, where it is not there.

    Raises:
        OSError: It cannot be made.
    """
    own = parent / f"burnish.{os.getpid()}.{os.urandom(8).hex()}"
    try:
        own.mkdir(mode=0o700)
    except FileNotFoundError:
        if not parents:
            raise
        own.mkdir(mode=0o700, parents=True)
    try:
        yield own
    finally:
        _remove(own)


def _remove(folder: Path) -> None:
    """Remove a folder; shutil does the same, but builds would wait for it to load."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove(Path(entry.path))
            else:
                Path(entry.path).unlink()
    folder.rmdir()

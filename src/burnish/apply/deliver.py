"""Hands over what a build made: the file to where the command line wants it, and the messages."""

# ruff: noqa: PTH116, PTH123
# A build that is done from memory loads this, and pathlib would cost it 8 ms.

import os
import stat
import sys

from burnish.acf.atomic import write_whole

__all__ = ["deliver", "print_messages"]


def deliver(image: bytes, output: str) -> None:
    """Write the output: whole or not at all.

    Raises:
        OSError: It cannot be written there.
    """
    try:
        mode = os.stat(output).st_mode
    except OSError:
        write_whole(output, image)
        return
    if stat.S_ISREG(mode):
        if not os.access(output, os.W_OK):
            raise PermissionError(13, "Permission denied", output)
        write_whole(output, image, stat.S_IMODE(mode))
    else:  # a device or a pipe: nothing to replace
        with open(output, "wb") as stream:
            stream.write(image)


def print_messages(stdout: bytes, stderr: bytes) -> None:
    """Print what the compiler printed."""
    sys.stdout.buffer.write(stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(stderr)
    sys.stderr.flush()

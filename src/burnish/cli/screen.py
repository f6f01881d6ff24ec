"""Where words go: results to stdout, progress and errors to stderr."""

import codecs
import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from burnish.acf.atomic import write_whole
from burnish.errors import UsageError

__all__ = ["OUT", "say_error", "take_any_text", "write_json"]

_AS_GIVEN = "burnish-as-given"
_BYTES = {chr(0xDC00 + number) for number in range(0x80, 0x100)}  # of names that are no text
_MARKS = {"→": b"->", "…": b"...", "×": b"x"}

OUT = Console(soft_wrap=True, highlight=False, markup=False)


def take_any_text() -> None:
    """Let stdout take what its encoding cannot say: bytes of file names, and marks for the rest."""
    codecs.register_error(_AS_GIVEN, _as_given)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_AS_GIVEN)


def _as_given(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError), "nothing is read with it"
    letters = error.object[error.start : error.end]
    said = b"".join(
        os.fsencode(letter) if letter in _BYTES else _MARKS.get(letter, b"?") for letter in letters
    )
    return said, error.end


def say_error(message: str) -> None:
    """One line on stderr."""
    line = " ".join(message.split())
    print(f"burnish: {line}", file=sys.stderr)  # noqa: T201 - this is where errors are printed


def write_json(path: Path | None, document: Mapping[str, object]) -> None:
    """Write everything that was printed, whole or not at all; ``-`` is stdout.

    Raises:
        UsageError: The file cannot be written.
    """
    if path is None:
        return
    text = json.dumps(document, indent=2, sort_keys=False) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        write_whole(path, text.encode())
    except OSError as error:
        raise UsageError(f"--json {path}: cannot be written ({error.strerror})") from None

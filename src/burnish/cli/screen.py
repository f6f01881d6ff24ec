"""Where words go: results to stdout, progress and errors to stderr."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from burnish.acf.atomic import write_whole
from burnish.errors import UsageError

__all__ = ["OUT", "say_error", "write_json"]

OUT = Console(soft_wrap=True, highlight=False, markup=False)


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

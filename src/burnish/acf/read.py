"""Reads an ACF, refusing whatever it does not understand by key and line. Executes nothing."""

import re
import tomllib
from pathlib import Path

from burnish.acf.blocks import tuned_of
from burnish.acf.fields import FieldError, Table
from burnish.acf.lines import line_of, shown
from burnish.acf.model import FORMAT, Acf
from burnish.errors import AcfError

__all__ = ["MOST_FILE_BYTES", "is_text", "load", "load_bytes", "read"]

MOST_FILE_BYTES = 64 << 20


def read(text: str, source: str) -> Acf:
    """The ACF that a text holds.

    Args:
        text: The file's text.
        source: The file's name, for messages.

    Raises:
        AcfError: Anything is malformed, unknown or out of bounds; says where.
    """
    if not text.endswith("\n"):
        raise AcfError(f"{source}: the last line has no end; the file was cut short")
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise AcfError(f"{source}: is nested too deeply to be an ACF") from None
    except ValueError as error:
        raise AcfError(_located(source, str(error))) from None
    try:
        return _acf_of(Table(document, ()))
    except FieldError as error:
        line = line_of(text, error.place)
        place = shown(error.place)
        raise AcfError(f"{source}:{line}: {place}{': ' * bool(place)}{error.message}") from None


def load(path: Path) -> Acf:
    """The ACF in a file.

    Raises:
        AcfError: The file cannot be read, or is no ACF.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe may never end
            raise AcfError(f"{path}: is no regular file")
        with path.open("rb") as stream:
            data = stream.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise AcfError(f"{path}: cannot be read: {error.strerror}") from None
    return load_bytes(data, str(path))


def load_bytes(data: bytes, source: str) -> Acf:
    """The ACF in a file's bytes.

    Raises:
        AcfError: It is no ACF.
    """
    if len(data) > MOST_FILE_BYTES:
        raise AcfError(f"{source}: is larger than {MOST_FILE_BYTES >> 20} MiB")
    if not is_text(data):
        raise AcfError(f"{source}: is not text; an ACF of Burnish is a TOML file")
    return read(data.decode(), source)


def is_text(data: bytes) -> bool:
    """Whether these bytes are text, as Burnish's ACFs are, and NVIDIA's are not."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _acf_of(document: Table) -> Acf:
    form = document.text("format")
    if form != FORMAT:
        raise document.fault("format", f"{form!r} is not {FORMAT!r}: use a newer Burnish")
    strict = document.flag("strict") if "strict" in document else False
    blocks = document.tables("tuned")
    document.done()
    if not blocks:
        raise document.fault("tuned", "there is no tuned block")
    return Acf(tuple(tuned_of(block, strict=strict) for block in blocks), strict)


def _located(source: str, message: str) -> str:
    """Move the line that tomllib names to the front, as compilers do."""
    found = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$", message)
    if found is None:
        return f"{source}: is not TOML: {message}"
    line = f":{found[1]}" if found[1] else ""
    where = "" if found[1] else " at the end of the file"
    return f"{source}{line}: is not TOML{where}: {message[: found.start()]}"

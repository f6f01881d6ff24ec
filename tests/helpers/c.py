"""C sources as shared libraries, for the host device."""

import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

HOSTILE = Path(__file__).parent / "hostile"


@cache
def library(source: str, options: Sequence[str] = ("-O2",)) -> bytes:
    """Compile C text."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "k.so")
        argv = ["gcc", *options, "-shared", "-fPIC", "-x", "c", "-", "-o", str(out), "-lm"]
        subprocess.run(argv, input=source, text=True, check=True, capture_output=True)
        return out.read_bytes()


def hostile(name: str) -> bytes:
    """Compile one of the sources in the folder ``hostile``; the entry is ``kernel``."""
    return library((HOSTILE / f"{name}.c").read_text(), ("-O1",))

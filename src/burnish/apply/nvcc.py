"""``burnish nvcc``: nvcc's own command line, with a controls file.

nvcc calls the ptxas of its own folder, so it is called in a toolkit whose ptxas is a shim
(`burnish.apply.toolkit`), and what is said to Burnish is handed on to that.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from burnish import __version__
from burnish.apply.request import OwnWords, own_words
from burnish.apply.shims import write
from burnish.errors import BurnishError, ToolchainError, UsageError
from burnish.settings import Settings, load
from burnish.toolchain.discover import find_one
from burnish.toolchain.process import replace

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Become nvcc in a toolkit that applies controls files; an exit code where that fails."""
    try:
        _become(argv, load())
    except BurnishError as error:
        print(f"burnish: {error}", file=sys.stderr)  # noqa: T201 - a compiler's errors go there
        return error.exit_code


def _become(argv: Sequence[str], settings: Settings) -> NoReturn:
    own = own_words(argv, settings)
    nvcc = _nvcc(settings)
    words = [_for_ptxas(f"--apply-controls={_path(file.name)}") for file in own.given]
    words += [_for_ptxas(f"--strict-controls{_part(own, nvcc)}")] if own.strict else []
    words += [_for_ptxas(f"--allow={risk}") for risk in sorted(own.allow)]
    replace([str(nvcc), *own.rest, *words])


def _part(own: OwnWords, nvcc: Path) -> str:
    """What is said beside to a ptxas that makes a part of the build: files are for the whole."""
    if not own.given:
        return ""
    from burnish.toolchain.nvcc import ptxas_calls  # rarely needed

    return "=part" if ptxas_calls(nvcc, own.rest) > 1 else ""


def _path(name: str) -> str:
    """The file's whole path: nvcc splits what it hands on at commas, and may change its folder."""
    path = str(Path(name).absolute())
    if "," in path:
        raise UsageError(f"{name}: nvcc cannot hand on a path with a comma; rename it")
    return path


def _for_ptxas(option: str) -> str:
    return f"-Xptxas={option}"


def _nvcc(settings: Settings) -> Path:
    """The nvcc of a toolkit of ours; made where it is not there yet.

    Raises:
        ToolchainError: No nvcc was found.
    """
    real = find_one(settings, "nvcc")
    if real is None:
        raise ToolchainError("no nvcc was found; try: pip install 'burnish[cuda]'")
    known = f"{__version__}\0{real.path}\0{real.sha256}\0{sys.executable}\0{__file__}"
    folder = settings.cache / "shims" / hashlib.sha256(known.encode()).hexdigest()[:16]
    nvcc = folder / "toolkit" / "bin" / "nvcc"
    if not nvcc.exists():
        write(folder, settings)
    if not nvcc.exists():
        raise ToolchainError(f"{real.path} is no part of a whole toolkit; try burnish doctor")
    return nvcc

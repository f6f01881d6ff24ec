"""What the environment says: the only reader of environment variables.

=====================  ==========================================================================
``BURNISH_SHELF``      folder of ACFs in which builds and programs look tuned results up
``BURNISH_STRICT``     ``1``: a build fails where an ACF matches, or is named, and is not applied
``BURNISH_ALLOW``      risks that the user takes, such as ``conditional``; comma-separated
``BURNISH_STORE``      address of the database of trials
``BURNISH_CACHE``      folder of compiled binaries and added compilers
``BURNISH_PTXAS``      the real ptxas that the shims start
``CUDA_HOME``          a CUDA toolkit (``CUDA_PATH`` counts too)
``TMPDIR``             folder for files that last as long as a command
=====================  ==========================================================================
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings", "load"]

_TEMPORARY = Path("/tmp")  # noqa: S108 - whoever writes there makes a folder of its own


@dataclass(frozen=True, slots=True)
class Settings:
    """The environment's say, read once.

    Attributes:
        shelf: Folder of ACFs, or None.
        strict: Whether an ACF that is named, or matches, and is not applied fails the build.
        allow: Names of the risks that the user takes.
        store: Address of the database, ``sqlite:///…`` or ``postgresql://…``.
        cache: Folder of what can be made again: compiled binaries, added compilers.
        ptxas: The real ptxas that the shims start, or None.
        cuda_home: A CUDA toolkit, or None.
        path: Folders in which programs are looked for.
        temporary: Folder for what lasts as long as a command.
    """

    shelf: Path | None
    strict: bool
    allow: tuple[str, ...]
    store: str
    cache: Path
    ptxas: Path | None
    cuda_home: Path | None
    path: tuple[Path, ...]
    temporary: Path = _TEMPORARY


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Read the environment, or a mapping in its stead (for tests)."""
    said = os.environ if environment is None else environment
    home = Path(said.get("HOME") or "/")
    state = Path(said.get("XDG_STATE_HOME") or home / ".local" / "state")
    cache = Path(said.get("XDG_CACHE_HOME") or home / ".cache")
    return Settings(
        shelf=_path(said, "BURNISH_SHELF"),
        strict=said.get("BURNISH_STRICT", "") not in {"", "0"},
        allow=tuple(filter(None, said.get("BURNISH_ALLOW", "").replace(" ", "").split(","))),
        store=said.get("BURNISH_STORE") or f"sqlite:///{state / 'burnish' / 'studies.sqlite'}",
        cache=_path(said, "BURNISH_CACHE") or cache / "burnish",
        ptxas=_path(said, "BURNISH_PTXAS"),
        cuda_home=_path(said, "CUDA_HOME") or _path(said, "CUDA_PATH"),
        path=tuple(Path(part) for part in said.get("PATH", "").split(os.pathsep) if part),
        temporary=_path(said, "TMPDIR") or _TEMPORARY,
    )


def _path(said: Mapping[str, str], name: str) -> Path | None:
    value = said.get(name)
    return Path(value) if value else None

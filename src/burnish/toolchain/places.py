"""Where compilers may be, in order of preference; nothing is started here."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.settings import Settings

__all__ = ["KINDS", "Place", "added_folder", "groups"]

_NVIDIA = frozenset({"cuobjdump", "nvcc", "nvdisasm", "ptxas"})
_NUMBERED = frozenset({"clang", "gcc", "llc", "opt"})  # systems install clang-22 beside clang
KINDS = ("ptxas", "nvcc", "gcc", "clang", "llc", "opt", "cuobjdump", "nvdisasm")


@dataclass(frozen=True, slots=True)
class Place:
    """A file that may be a compiler.

    Attributes:
        kind: What it would be.
        path: Where it would be.
        origin: How it got there, in words.
    """

    kind: str
    path: Path
    origin: str


def added_folder(settings: Settings) -> Path:
    """Where ``burnish toolchain add`` puts compilers: a folder ``KIND-VERSION`` for each."""
    return settings.cache / "toolchains"


def groups(settings: Settings, kinds: Sequence[str] = KINDS) -> Iterator[list[Place]]:
    """Every place worth a look, the preferred ones first; in a group, the newest comes first."""
    nvidia = [kind for kind in kinds if kind in _NVIDIA]
    if settings.ptxas and "ptxas" in kinds:
        yield [Place("ptxas", settings.ptxas, "BURNISH_PTXAS")]
    sites = _sites() if nvidia else []
    packages = [folder for site in sites for folder in _folders(site / "nvidia")]
    yield [
        Place(kind, folder / "bin" / kind, f"package nvidia/{folder.name}")
        for folder in packages
        for kind in nvidia
    ]
    yield [
        Place(kind, folder / kind, "added")
        for folder in _folders(added_folder(settings))
        for kind in nvidia
        if folder.name.startswith(f"{kind}-")
    ]
    if settings.cuda_home:
        yield [Place(kind, settings.cuda_home / "bin" / kind, "CUDA_HOME") for kind in nvidia]
    for folder in dict.fromkeys(settings.path):
        plain, numbered = _names(folder, kinds)
        yield [Place(name, folder / name, "PATH") for name in plain]
        yield [Place(name.partition("-")[0], folder / name, "PATH") for name in numbered]
    for site in sites:
        yield _of_triton(site / "triton" / "backends" / "nvidia" / "bin", nvidia)


def _sites() -> list[Path]:
    """The folders of installed packages, also where Python was started without them (-S)."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = Path(sys.executable).parent.parent / "lib" / version / "site-packages"
    named = [Path(part) for part in sys.path if part.endswith(("site-packages", "dist-packages"))]
    return list(dict.fromkeys([*named, own]))


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(folder for folder in path.iterdir() if not folder.name.startswith("."))
    except OSError:
        return []


def _names(folder: Path, kinds: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of a folder that are kinds, and names such as ``clang-22``."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - two thousand Paths would cost milliseconds
    except OSError:
        return [], []
    numbered = [
        name
        for name in names
        if "-" in name
        and (head := name.partition("-"))[0] in _NUMBERED
        and head[0] in kinds
        and head[2].isdigit()
    ]
    return [kind for kind in kinds if kind in names], numbered


def _of_triton(folder: Path, nvidia: Sequence[str]) -> list[Place]:
    blackwell = ["ptxas-blackwell"] if "ptxas" in nvidia else []
    names = [*nvidia, *blackwell]
    return [Place(name.partition("-")[0], folder / name, "Triton") for name in names]

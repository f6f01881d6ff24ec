"""A CUDA toolkit of links whose nvcc calls our ptxas.

nvcc looks for ptxas in its own folder before PATH, and takes for its own folder the one that it was
started from. So a folder that looks like the toolkit, with another ptxas in it, is all it needs.
"""

from collections.abc import Iterable
from pathlib import Path

from burnish.acf.atomic import write_whole
from burnish.errors import UsageError

__all__ = ["link_toolkit"]

_OWN = frozenset({"nvcc.profile", "ptxas"})


def link_toolkit(nvcc: Path, folder: Path, ptxas_script: str) -> bool:
    """Make or renew the toolkit; False where this nvcc's toolkit is not laid out as usual.

    Args:
        nvcc: The real nvcc.
        folder: Where the toolkit of links is to be.
        ptxas_script: Its ptxas.

    Raises:
        OSError: The folder cannot be written.
        UsageError: Something else is in the way.
    """
    profile = nvcc.parent / "nvcc.profile"
    if not profile.is_file() or nvcc.parent.name != "bin":
        return False
    top = nvcc.parent.parent
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    _link(folder, (path for path in top.iterdir() if path.name != "bin"))
    _link(folder / "bin", (path for path in nvcc.parent.iterdir() if path.name not in _OWN))
    write_whole(folder / "bin" / "nvcc.profile", profile.read_bytes(), 0o644)
    write_whole(folder / "bin" / "ptxas", ptxas_script.encode(), 0o755)
    return True


def _link(folder: Path, targets: Iterable[Path]) -> None:
    """Make a folder's links be these; files that are no links are not ours to remove."""
    wanted = {target.name: target for target in targets}
    for path in folder.iterdir():
        if path.is_symlink() and wanted.get(path.name) != path.readlink():
            path.unlink()
    for name, target in wanted.items():
        link = folder / name
        if link.is_symlink():
            continue
        if link.exists():
            raise UsageError(f"{link}: is in the way; give burnish shims a folder of its own")
        link.symlink_to(target)

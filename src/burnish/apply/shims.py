"""``burnish shims``: programs that stand in for the compilers of a build."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from burnish.acf.atomic import write_whole
from burnish.apply.scripts import MARK, ptxas_script, triton_script
from burnish.apply.toolkit import link_toolkit
from burnish.errors import ToolchainError, UsageError
from burnish.settings import Settings
from burnish.toolchain.discover import find_one, identify
from burnish.toolchain.places import groups

__all__ = ["write"]

_BLACKWELL = "ptxas-blackwell"


def write(folder: Path, settings: Settings) -> tuple[str, ...]:
    """Write or renew the shims in a folder; returns what to say: how to use them.

    Raises:
        ToolchainError: No ptxas was found.
        UsageError: The folder cannot be written, or holds something of the same name.
    """
    ptxas = find_one(settings, "ptxas")
    if ptxas is None:
        raise ToolchainError("no ptxas was found, so there is nothing to stand in for")
    folder = folder.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_script(folder / "ptxas", ptxas_script(ptxas.path))
        _write_script(
            folder / "triton-ptxas", triton_script(_of_triton(settings, "ptxas", ptxas.path))
        )
        _write_script(
            folder / f"triton-{_BLACKWELL}",
            triton_script(_of_triton(settings, _BLACKWELL, ptxas.path)),
        )
        has_toolkit = _write_toolkit(folder / "toolkit", settings, ptxas.path)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return tuple(_usage(folder, has_toolkit=has_toolkit))


def _write_script(path: Path, text: str) -> None:
    if path.exists() and MARK not in path.read_text(errors="replace"):
        raise UsageError(f"{path}: is no shim of Burnish; give the shims a folder of their own")
    write_whole(path, text.encode(errors="surrogateescape"), 0o755)


def _write_toolkit(folder: Path, settings: Settings, ptxas: Path) -> bool:
    nvcc = find_one(settings, "nvcc")
    if nvcc is None:
        return False
    beside = nvcc.path.with_name("ptxas")
    return link_toolkit(nvcc.path, folder, ptxas_script(beside if beside.is_file() else ptxas))


def _of_triton(settings: Settings, name: str, otherwise: Path) -> Path:
    """Triton's own ptxas of that name: it was chosen for the PTX that this Triton writes."""
    for group in groups(settings, ("ptxas",)):
        for place in group:
            if place.origin == "Triton" and place.path.name == name:
                tool = identify(settings, place)
                return tool.path if tool else otherwise
    return otherwise


def _usage(folder: Path, *, has_toolkit: bool) -> Iterator[str]:
    here = shlex.quote(str(folder))
    yield "# for builds that call ptxas:"
    yield f"export PATH={here}:$PATH"
    if has_toolkit:
        yield "# for builds that call nvcc (CMake: -DCMAKE_CUDA_COMPILER=that folder's nvcc):"
        yield f"export PATH={here}/toolkit/bin:$PATH CUDA_HOME={here}/toolkit"
    else:
        yield "# no nvcc with a toolkit was found, so there is no toolkit for builds that call it"
    yield "# for Triton:"
    yield f"export TRITON_PTXAS_PATH={here}/triton-ptxas"
    yield f"export TRITON_PTXAS_BLACKWELL_PATH={here}/triton-{_BLACKWELL}"
    yield "# what is tuned is looked up in the folder that this names:"
    yield "export BURNISH_SHELF=…"

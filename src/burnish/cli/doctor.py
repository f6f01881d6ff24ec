"""``burnish doctor``: what was found, what is missing, how to get it."""

from burnish import __version__
from burnish.cli.options import Json
from burnish.cli.screen import OUT, write_json
from burnish.cli.toolchain import shown
from burnish.errors import BurnishError
from burnish.settings import Settings, load
from burnish.store.store import open_store
from burnish.toolchain.discover import find

__all__ = ["doctor"]

# What each compiler is for, and how to get it.
_WANTED = {
    "ptxas": ("tuning PTX", "pip install 'burnish[cuda]'"),
    "nvcc": ("CUDA C++ kernels", "pip install 'burnish[cuda]'"),
    "gcc": ("kernels on the host", "install gcc with the system's package manager"),
    "clang": ("LLVM as another way to PTX", "install clang 19 or newer"),
    "cuobjdump": ("reading cubins as people", "pip install nvidia-cuda-cuobjdump"),
    "nvdisasm": ("disassembly in explanations", "pip install nvidia-cuda-nvdisasm"),
}


def doctor(json: Json = None) -> int:
    """Say what was found on this machine, what is missing, and how to get it."""
    settings = load()
    toolchain = find(settings)
    missing = {
        kind: f"for {use}: {how}" for kind, (use, how) in _WANTED.items() if not toolchain.all(kind)
    }
    store = _store(settings)
    if str(json) != "-":
        OUT.print(f"burnish {__version__}")
        OUT.print(shown(toolchain))
        for kind, advice in missing.items():
            OUT.print(f"missing: {kind}, {advice}")
        OUT.print(f"store: {store}")
        OUT.print(f"shelf: {settings.shelf or 'none (BURNISH_SHELF)'}")
        OUT.print(f"cache: {settings.cache}")
    write_json(
        json,
        {
            "burnish": __version__,
            "tools": [tool.name for tool in toolchain.tools],
            "missing": missing,
            "store": store,
            "shelf": str(settings.shelf or ""),
            "cache": str(settings.cache),
        },
    )
    return 0 if "ptxas" not in missing else 1


def _store(settings: Settings) -> str:
    try:
        with open_store(settings.store) as store:
            return f"{settings.store} ({len(store.studies())} studies)"
    except BurnishError as error:
        return f"{settings.store}: {error}"

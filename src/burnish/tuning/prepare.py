"""Before a search: read the kernel, find its space, and say what study this is."""

from pathlib import Path

from burnish import __version__
from burnish.errors import KernelError, UsageError
from burnish.evaluate import PtxCompiler
from burnish.model.frozen import FrozenMap
from burnish.model.kernel import Kernel
from burnish.model.toolchain import Toolchain
from burnish.settings import Settings, load
from burnish.spaces.kernel import ptx_kernel
from burnish.spaces.ptx import PtxSpace, ptx_space
from burnish.spaces.request import Request
from burnish.toolchain.cache import CompileCache
from burnish.toolchain.discover import find
from burnish.toolchain.pipeline import Pipeline
from burnish.toolchain.process import Limits
from burnish.tuning.task import Task

__all__ = ["compiler_of", "inputs_of", "open_space"]

_CACHE_BYTES = 2 << 30
_COMPILER_MEMORY_BYTES = 16 << 30
_COMPILE_S = 120.0


def open_space(task: Task, settings: Settings | None = None) -> PtxSpace:
    """Read the task's kernel and find everything that can be decided about it.

    Raises:
        UsageError: The file, entry or architecture is not there.
        KernelError: The file cannot be tuned.
        ToolchainError: The compiler of the plain build is missing.
    """
    toolchain = find(settings or load())
    kernel = _kernel(task, toolchain)
    opaque = Request.opaque_in(task.opaque) if task.opaque else ()
    return ptx_space(kernel, toolchain, Request(task.allow, task.layers, opaque))


def _kernel(task: Task, toolchain: Toolchain) -> Kernel:
    suffix = task.kernel.suffix
    if not task.kernel.exists():
        raise UsageError(f"{task.kernel}: no such file; name a .ptx, .cu or .c file")
    if suffix != ".ptx":
        raise KernelError(f"{task.kernel}: only .ptx kernels can be tuned yet")
    return ptx_kernel(
        task.kernel,
        toolchain.first("ptxas"),
        entry=task.entry,
        arch=task.arch,
        options=task.options,
    )


def compiler_of(bound: PtxSpace, folder: Path, settings: Settings) -> PtxCompiler:
    """The compiler of a space's configs; ``folder`` is for its temporary files."""
    cache = CompileCache(settings.cache / "compiled", _CACHE_BYTES)
    limits = Limits(wall_s=_COMPILE_S, memory_bytes=_COMPILER_MEMORY_BYTES)
    return PtxCompiler(bound, Pipeline(cache, folder, limits))


def inputs_of(task: Task, bound: PtxSpace) -> FrozenMap[str]:
    """What makes a study this study: another value of any of these is another study."""
    kernel = bound.kernel
    tools = ", ".join(f"{tool.name} {tool.sha256[:12]}" for tool in bound.toolchain.tools)
    return FrozenMap(
        {
            "kernel": kernel.key,
            "entry": kernel.entry,
            "arch": kernel.arch,
            "options": " ".join(kernel.options),
            "space": bound.space.digest,
            "toolchain": tools,
            "minimize": ", ".join(task.objective.minimize),
            "limits": ", ".join(f"{limit.metric}={limit.most:g}" for limit in task.limits),
            "device": task.device,
            "engine": task.engine,
            "seed": str(task.seed),
            "jobs": str(task.workers),
            "burnish": __version__,
        }
    )

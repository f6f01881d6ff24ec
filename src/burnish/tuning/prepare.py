"""Before a search: read the kernel, find its space and compiler, and say what study this is."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish import __version__
from burnish.bundle.dtypes import dtype
from burnish.bundle.launch import LaunchFile, read_launch
from burnish.bundle.layout import extent, roots
from burnish.bundle.parameters import Parameter, c_parameters, check_arguments, ptx_parameter
from burnish.errors import KernelError, LaunchError, ToolchainError, UsageError
from burnish.evaluate.compiled import Compiler
from burnish.evaluate.host import HostCompiler
from burnish.evaluate.ptx import PtxCompiler
from burnish.model.code import Code
from burnish.model.frozen import FrozenMap
from burnish.model.kernel import Kernel
from burnish.model.toolchain import Tool, Toolchain
from burnish.model.workload import Workload
from burnish.ptx.module import parse
from burnish.settings import Settings, load
from burnish.spaces.bound import BoundSpace
from burnish.spaces.c_kernel import c_kernel
from burnish.spaces.host import HostSpace, host_space
from burnish.spaces.kernel import Words, cuda_kernel, ptx_kernel
from burnish.spaces.ptx import PtxSpace, ptx_space
from burnish.spaces.request import Request
from burnish.toolchain.cache import CompileCache
from burnish.toolchain.discover import architectures, find, identify
from burnish.toolchain.gcc import Gcc
from burnish.toolchain.nvcc import ptxas_beside
from burnish.toolchain.pipeline import Pipeline
from burnish.toolchain.places import Place
from burnish.toolchain.process import Limits
from burnish.toolchain.ptxas import Refusal
from burnish.tuning.device import DeviceChoice
from burnish.tuning.task import Task

__all__ = [
    "Measured",
    "bind",
    "compiler_of",
    "inputs_of",
    "open_kernel",
    "open_space",
    "parameters_of",
    "read_workloads",
]

_CACHE_BYTES = 2 << 30
_LIMITS = Limits(wall_s=120.0, memory_bytes=16 << 30)


def open_space(task: Task, folder: Path, settings: Settings | None = None) -> BoundSpace:
    """Read the task's kernel and find everything that can be decided about it.

    Args:
        task: What is tuned.
        folder: For the compilers' temporary files.
        settings: The environment's say; read from the environment by default.

    Raises:
        UsageError: The file, entry or architecture is not there.
        KernelError: The file cannot be tuned.
        ToolchainError: The compiler of the plain build is missing.
    """
    opaque = Request.opaque_in(task.opaque) if task.opaque else ()
    settings = settings or load()
    kernel, toolchain = open_kernel(task, folder, settings)
    if kernel.language == "ptx":
        toolchain = _that_accept(kernel, toolchain, _pipeline(folder, settings))
    return bind(task, kernel, toolchain, opaque)


def _that_accept(kernel: Kernel, toolchain: Toolchain, pipeline: Pipeline) -> Toolchain:
    """The toolchain without those ptxas that refuse the kernel: an older one may not know it."""
    _plain, *others = toolchain.all("ptxas")
    refusing = {
        tool.name
        for tool in others
        if kernel.arch not in architectures(tool)
        or isinstance(
            pipeline.assemble(tool, kernel.text, Code(tool.name, kernel.options), kernel.arch),
            Refusal,
        )
    }
    return Toolchain(tuple(tool for tool in toolchain.tools if tool.name not in refusing))


def bind(
    task: Task,
    kernel: Kernel,
    toolchain: Toolchain,
    opaque: tuple[tuple[str, bytes], ...] = (),
) -> BoundSpace:
    """Find everything that can be decided about a kernel.

    Args:
        task: Which layers and risks are wanted.
        kernel: The kernel.
        toolchain: Its compilers, that of the plain build first.
        opaque: NVIDIA's own controls files by name.
    """
    request = Request(task.allow, task.layers, opaque)
    make = host_space if kernel.language == "c" else ptx_space
    return make(kernel, toolchain, request)


def open_kernel(
    task: Task, folder: Path, settings: Settings | None = None
) -> tuple[Kernel, Toolchain]:
    """Read the task's kernel; returns it with the compilers, that of its plain build first.

    Args and errors are those of `open_space`.
    """
    settings = settings or load()
    toolchain = find(settings)
    entry = task.entry or _entry_in(task.launch)
    suffix = task.kernel.suffix if task.kernel.exists() else None
    if suffix is None:
        raise UsageError(f"{task.kernel}: no such file; name a .ptx, .cu or .c file")
    if suffix == ".ptx":
        tool = toolchain.first("ptxas")
        kernel = ptx_kernel(task.kernel, tool, entry=entry, arch=task.arch, options=task.options)
        return kernel, toolchain
    if suffix == ".cu":
        nvcc = toolchain.first("nvcc")
        beside = identify(settings, Place("ptxas", ptxas_beside(nvcc), nvcc.origin))
        if beside is None:
            raise ToolchainError(f"{nvcc.name} has no ptxas beside it: {nvcc.path}")
        words = Words(task.options, folder)
        kernel = cuda_kernel(task.kernel, nvcc, beside, (entry, task.arch), words)
        return kernel, Toolchain((beside, *_others(toolchain, beside)))
    if suffix == ".c":
        gcc = Gcc(toolchain.first("gcc"), folder, _LIMITS)
        return c_kernel(task.kernel, gcc, entry=entry, options=task.options), toolchain
    raise KernelError(
        f"{task.kernel}: kernels are .ptx, .cu or .c files; a {suffix or 'file'} is not"
    )


def _others(toolchain: Toolchain, first: Tool) -> list[Tool]:
    return [tool for tool in toolchain.tools if tool.name != first.name]


def _entry_in(launch: Path | None) -> str:
    return read_launch(launch).entry if launch is not None else ""


def compiler_of(bound: BoundSpace, folder: Path, settings: Settings) -> Compiler:
    """The compiler of a space's configs; ``folder`` is for its temporary files."""
    if isinstance(bound, HostSpace):
        return HostCompiler(bound, Gcc(bound.toolchain.first("gcc"), folder, _LIMITS))
    assert isinstance(bound, PtxSpace), "there are two languages"
    return PtxCompiler(bound, _pipeline(folder, settings))


def _pipeline(folder: Path, settings: Settings) -> Pipeline:
    return Pipeline(CompileCache(settings.cache / "compiled", _CACHE_BYTES), folder, _LIMITS)


def read_workloads(task: Task, kernel: Kernel) -> LaunchFile:
    """The task's launch file, held against the entry's parameters.

    Raises:
        UsageError: There is none.
        LaunchError: It does not fit the kernel.
    """
    if task.launch is None:
        raise UsageError(
            f"running {task.kernel} needs --launch FILE, which says with what; "
            f"burnish init {task.kernel} writes one to fill in"
        )
    launch = read_launch(task.launch)
    if launch.entry != kernel.entry:
        raise LaunchError(f"{task.launch}: is for {launch.entry!r}, not for {kernel.entry!r}")
    parameters = parameters_of(kernel)
    for workload in launch.workloads:
        try:
            check_arguments(workload.arguments, parameters)
            _check_room(workload)
        except LaunchError as error:
            raise LaunchError(f"{task.launch}: workload {workload.name!r}: {error}") from None
    return launch


def _check_room(workload: Workload) -> None:
    """Refuse what cannot be: all of a workload's inputs are made in this machine's memory."""
    needed = sum(extent(root) * dtype(root.dtype).size for root in roots(workload))
    room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > room:
        raise LaunchError(
            f"its buffers are {needed:,} bytes, and this machine has {room:,}: "
            "make the shapes smaller"
        )


def parameters_of(kernel: Kernel) -> Sequence[Parameter]:
    """The parameters of a kernel's entry."""
    if kernel.language == "c":
        return c_parameters(kernel.text, kernel.entry)
    return [
        ptx_parameter(one.name, one.type, one.size_bytes)
        for one in parse(kernel.text).entry(kernel.entry).parameters
    ]


@dataclass(frozen=True)
class Measured:
    """What is run, and on what; a part of what a study is."""

    device: DeviceChoice
    launch: LaunchFile | None


def inputs_of(task: Task, bound: BoundSpace, measured: Measured) -> FrozenMap[str]:
    """What makes a study this study: another value of any of these is another study."""
    kernel = bound.kernel
    tools = ", ".join(f"{tool.name} {tool.sha256[:12]}" for tool in bound.toolchain.tools)
    launch = measured.launch
    texts = [path.read_bytes() for path in task.start_from]
    start = {"start-from": hashlib.sha256(b"\0".join(texts)).hexdigest()} if texts else {}
    return FrozenMap(
        {
            **start,
            "kernel": kernel.key,
            "entry": kernel.entry,
            "arch": kernel.arch,
            "options": " ".join(kernel.options),
            "space": bound.space.digest,
            "toolchain": tools,
            "minimize": ", ".join(task.objective.minimize),
            "limits": ", ".join(f"{limit.metric}={limit.most:g}" for limit in task.limits),
            "device": f"{measured.device.kind} {measured.device.name}".strip(),
            "launch": launch.digest if launch else "",
            "regime": task.regime if launch else "",
            "reference": task.reference,
            "engine": task.engine,
            "seed": str(task.seed),
            "jobs": str(task.workers),
            "burnish": __version__,
        }
    )

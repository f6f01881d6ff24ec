"""A controls file held against a kernel: which block applies, and the code it makes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.acf.model import Tuned
from burnish.acf.read import load
from burnish.errors import AcfError, BurnishError, LaunchError
from burnish.evaluate.compiled import Compiled, Compiler
from burnish.model.code import Code
from burnish.model.control import Risk
from burnish.model.kernel import Kernel
from burnish.model.toolchain import Toolchain
from burnish.model.workload import Argument, Buffer, Workload
from burnish.ptx.replace import apply_payload
from burnish.settings import Settings
from burnish.spaces.bound import BoundSpace
from burnish.toolchain.gcc_options import is_tuning_option
from burnish.tuning.prepare import open_kernel
from burnish.tuning.task import Task

__all__ = ["Applied", "apply_block", "build_block", "check_disjoint", "demand_of_block"]

_TOOLS = {"c": "gcc", "ptx": "ptxas"}


@dataclass(frozen=True)
class Applied:
    """A block that applies to a kernel.

    Attributes:
        file: The controls file.
        block: The block.
        kernel: The kernel and its plain build.
        toolchain: Compilers, that of the plain build first.
    """

    file: Path
    block: Tuned
    kernel: Kernel
    toolchain: Toolchain


def apply_block(task: Task, file: Path, entry: str, folder: Path, settings: Settings) -> Applied:
    """Find the block of a controls file for a kernel as its plain build makes it.

    Where the task names no options, those that the block is for are taken.

    Args:
        task: The kernel.
        file: The controls file.
        entry: The kernel's entry.
        folder: For temporary files.
        settings: The environment's say.

    Raises:
        AcfError: The file cannot be read, or no block applies; says why.
    """
    acf = load(file)
    blocks = [block for block in acf.tuned if block.entry == entry]
    if not blocks:
        has = ", ".join(dict.fromkeys(block.entry for block in acf.tuned))
        raise AcfError(f"{file}: no block is for {entry}; it has: {has}")
    nearest = 0, ""
    for block in blocks:
        kernel, toolchain = open_kernel(_as_said(task, block), folder, settings)
        found = _obstacle(block, kernel, toolchain)
        if not found[1]:
            return Applied(file, block, kernel, toolchain)
        nearest = max(nearest, found)
    raise AcfError(f"{file}: {entry}: {nearest[1]}")


def _as_said(task: Task, block: Tuned) -> Task:
    """The task with the options of the block's plain build, where the user named none."""
    if task.kernel.suffix == ".c":
        # Whoever wrote the file may not make us run a gcc with a plug-in.
        is_safe = all(
            is_tuning_option(one) or one.startswith("-std=") for one in block.baseline_options
        )
        return replace(task, options=task.options or (block.baseline_options if is_safe else ()))
    if task.kernel.suffix == ".ptx":
        return replace(task, options=task.options or block.baseline_options)
    return task  # a CUDA C++ file's options are those of nvcc


def _obstacle(block: Tuned, kernel: Kernel, toolchain: Toolchain) -> tuple[int, str]:
    """Why a block does not apply, with a rank: the nearer to applying, the higher."""
    compiler = toolchain.first(_TOOLS[kernel.language]).name
    options = " ".join(block.baseline_options) or "no options"
    here = " ".join(kernel.options) or "none"
    odd = [one for one in block.code.options if one not in kernel.options]
    is_odd = kernel.language == "c" and not all(map(is_tuning_option, odd))
    obstacles = (
        (block.arch != kernel.arch, f"was tuned for {block.arch}, and this is {kernel.arch}"),
        (block.key != kernel.key, "the kernel is not the one that was tuned; tune it again"),
        (
            block.baseline_compiler != compiler,
            f"was tuned for {block.baseline_compiler}, and this is {compiler}",
        ),
        (
            block.baseline_options != kernel.options,
            f"was tuned for builds with {options}, and this one has {here}",
        ),
        (
            bool(block.shapes or block.launch),
            "is for certain launches, which only the program around it knows",
        ),
        (is_odd, f"has options that do more than decide about machine code: {' '.join(odd)}"),
    )
    for rank, (stands, why) in enumerate(obstacles, 1):
        if stands:
            return rank, why
    return len(obstacles) + 1, ""


def check_disjoint(block: Tuned, workloads: Sequence[Workload]) -> None:
    """Check that the launches keep what the block requires.

    Raises:
        LaunchError: Two buffers share memory that must not.
    """
    for workload in workloads:
        for pair in block.disjoint:
            first, second = (_memory(workload.arguments, place) for place in pair)
            if first and first == second:
                raise LaunchError(
                    f"workload {workload.name!r}: parameters {pair[0]} and {pair[1]} share memory, "
                    "and the block requires that they do not"
                )


def _memory(arguments: Sequence[Argument], place: int) -> str:
    found = arguments[place] if place < len(arguments) else None
    return (found.view_of or found.name) if isinstance(found, Buffer) else ""


def build_block(applied: Applied, compiler: Compiler) -> Compiled:
    """Build what the block says; its machine code is the one that was tuned.

    Raises:
        AcfError: It does not build here, or other code comes out.
        ToolchainError: The compiler that it names is not installed.
    """
    block, bound = applied.block, compiler.bound
    where = f"{applied.file}: {block.entry}"
    kind, _, version = block.code.compiler.partition(" ")
    bound.toolchain.first(kind, version)
    code = Code(block.code.compiler, block.code.options, _ptx(applied), block.code.opaque)
    built = compiler.build(bound.space.default, code)
    if built.binary is None:
        raise AcfError(f"{where}: {code.compiler} does not build it: {built.message}")
    if block.code.binary_sha256 not in {"", built.binary.digest}:
        raise AcfError(f"{where}: other code came out than was tuned")
    return built


def _ptx(applied: Applied) -> str:
    payload, kernel = applied.block.code.ptx, applied.kernel
    try:
        return apply_payload(kernel.text, payload, kernel.entry) if payload else ""
    except BurnishError as error:
        where = f"{applied.file}: {kernel.entry}"
        raise AcfError(f"{where}: the tuned PTX does not fit: {error}") from None


def demand_of_block(block: Tuned, bound: BoundSpace) -> Risk:
    """What the block's answers must show: the most that one of its decisions demands.

    What this Burnish does not know must show the same bits, on more inputs.
    """
    risks: list[Risk] = [Risk.EXACT, *([Risk.CONDITIONAL] if block.disjoint else ())]
    for name, value in block.controls.items():
        known = name in bound.space
        risks.append(bound.space[name].risk_of(value) if known else Risk.UNPROVEN)
    order = list(Risk)
    return max(risks, key=order.index)

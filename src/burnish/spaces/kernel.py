"""From a file to a kernel: read it, find the entry, put its plain build into normal form."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import KernelError, UsageError
from burnish.model.kernel import Kernel
from burnish.model.toolchain import Tool
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import Module, parse
from burnish.ptx.replace import refuses
from burnish.spaces.entries import chosen_entry
from burnish.toolchain import nvcc_words
from burnish.toolchain.discover import architectures
from burnish.toolchain.nvcc import translate
from burnish.toolchain.options import Normal, normal_form, without_value

__all__ = ["Words", "cuda_kernel", "ptx_kernel", "read_text", "refuse_incomplete"]

_MOST_SOURCE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Words:
    """A command line, and where a compiler may put its temporary files."""

    options: Sequence[str]
    folder: Path


def read_text(path: Path) -> str:
    """Read a kernel's file.

    Raises:
        UsageError: It is missing or no file.
        KernelError: It is empty, too large or no text in UTF-8.
    """
    if not path.is_file():
        what = "is no regular file" if path.exists() else "no such file"
        raise UsageError(f"{path}: {what}; name a .ptx, .cu or .c file")
    if path.stat().st_size > _MOST_SOURCE_BYTES:
        raise KernelError(f"{path}: larger than {_MOST_SOURCE_BYTES >> 20} MiB")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        data, at = error.object, error.start
        if b"\0" in data:
            raise KernelError(f"{path}: not text; a cubin or fatbin cannot be tuned") from None
        why = f"the byte 0x{data[at]:02x} is no UTF-8; convert it with: iconv -t utf-8"
        raise KernelError(f"{path}:{1 + data[:at].count(10)}: {why}") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    if not text.strip():
        raise KernelError(f"{path}: the file is empty")
    return text


def ptx_kernel(
    path: Path, tool: Tool, *, entry: str = "", arch: str = "", options: Sequence[str] = ()
) -> Kernel:
    """Read a PTX file as a kernel.

    Args:
        path: The file.
        tool: The ptxas of the plain build.
        entry: The entry to tune; may be left out where there is one.
        arch: The architecture; by default that of the options, else the PTX's own target.
        options: Options of the plain build, as on ptxas's command line.

    Raises:
        UsageError: No such entry, or an architecture that the ptxas does not know.
        KernelError: The file is no PTX that can be tuned, or has several entries.
    """
    refuse_incomplete(without_value(options))
    normal = normal_form(options)
    if normal.inputs:
        raise UsageError(f"{normal.inputs[0]!r}: what follows -- are options, not input files")
    if normal.asks:
        raise UsageError("what follows -- asks ptxas a question instead of building")
    if normal.controls:
        raise UsageError(f"--apply-controls {normal.controls[0]}: the plain build has no controls")
    if normal.entries:
        raise UsageError(f"what follows --: ask for {normal.entries[0]} with --entry, before it")
    return _of_ptx(path, read_text(path), normal, tool, (entry, arch))


def refuse_incomplete(word: str) -> None:
    """Refuse options of a plain build in which a word lacks its value; an empty one is none.

    Raises:
        UsageError: There is one.
    """
    if word:
        raise UsageError(f"what follows --: {word} needs a value after it")


def cuda_kernel(
    path: Path, nvcc: Tool, tool: Tool, wanted: tuple[str, str], words: Words
) -> Kernel:
    """Read a CUDA C++ file as a kernel: it is tuned as the PTX that nvcc makes of it.

    Args:
        path: The file.
        nvcc: The compiler.
        tool: The ptxas that it calls.
        wanted: The entry, which may be empty where there is one, and the architecture, which
            may be empty where the options name one.
        words: The user's options, and a folder for temporary files.

    Raises:
        UsageError: No such entry or architecture.
        KernelError: The file cannot be tuned.
        ToolchainError: nvcc refuses the file.
    """
    read_text(path)
    refuse_incomplete(nvcc_words.without_value(words.options))
    entry, arch = wanted
    made = translate(nvcc, path, words.options, arch, folder=words.folder)
    return _of_ptx(path, made.ptx, made.normal, tool, (entry, made.normal.arch))


def _of_ptx(path: Path, text: str, normal: Normal, tool: Tool, wanted: tuple[str, str]) -> Kernel:
    entry, arch = wanted
    try:
        module = parse(text)
    except KernelError as error:
        raise KernelError(f"{path}: {error}") from None
    names = [function.name for function in module.entries]
    chosen = chosen_entry(entry, names, path)
    reason = refuses(module)
    if reason:
        raise KernelError(f"{path}: {reason}")
    return Kernel(
        name=path.name,
        language="ptx",
        text=text,
        entry=chosen,
        arch=_arch_of(module, arch or normal.arch, tool),
        options=normal.options,
        key=entry_digest(module, chosen),
        others=tuple(name for name in names if name != chosen),
    )


def _arch_of(module: Module, arch: str, tool: Tool) -> str:
    chosen = arch or module.target
    known = architectures(tool)
    if chosen not in known:
        real = sorted(name for name in known if name.startswith("sm_"))
        raise UsageError(f"{tool.name} does not know {chosen!r}; it knows: {', '.join(real)}")
    return chosen

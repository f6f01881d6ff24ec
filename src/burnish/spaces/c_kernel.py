"""From a C file to a kernel: preprocess it, find the function, take its plain build apart."""

import platform
from collections.abc import Sequence
from pathlib import Path

from burnish.errors import KernelError, UsageError
from burnish.model.kernel import Kernel
from burnish.spaces.entries import chosen_entry
from burnish.spaces.kernel import read_text, refuse_incomplete
from burnish.toolchain.gcc import Gcc, source_key
from burnish.toolchain.gcc_options import parse, without_value
from burnish.toolchain.ptxas import Refusal

__all__ = ["c_kernel"]

_PLAIN = ("-O3",)
_LINKED_ANYWAY = {"-lm", "-lc"}


def c_kernel(path: Path, gcc: Gcc, *, entry: str = "", options: Sequence[str] = ()) -> Kernel:
    """Read a C file as a kernel for the host.

    Args:
        path: The file.
        gcc: The compiler of the plain build.
        entry: The function to tune; may be left out where the file offers one.
        options: Of the plain build, as on gcc's command line; ``-O3`` where there are none.

    Raises:
        UsageError: No such function, or options that a shared library cannot be made with.
        KernelError: gcc refuses the file, or it offers several functions or none.
    """
    read_text(path)
    refuse_incomplete(without_value(options))
    line = parse(options or _PLAIN)
    if line.inputs:
        raise UsageError(f"{line.inputs[0]}: the options after -- name an input file of their own")
    if any(option.startswith("-flto") for option in line.options):
        raise UsageError("-flto: code that is made at the link cannot be tuned here; leave it out")
    libraries = [word for word in line.linking if word.startswith("-l")]
    if set(libraries) - _LINKED_ANYWAY:
        raise UsageError(f"{libraries[0]}: a kernel for the host cannot use other libraries here")
    text = gcc.preprocess(path, (*line.options, *line.preprocessing))
    compiled = gcc.compile(text, line.options)
    if isinstance(compiled, Refusal):
        raise KernelError(f"{path}: the plain build fails: {compiled.message}")
    chosen = chosen_entry(entry, compiled.functions, path)
    return Kernel(
        name=path.name,
        language="c",
        text=text,
        entry=chosen,
        arch=platform.machine(),
        options=line.options,
        key=source_key(text, chosen),
        others=tuple(name for name in compiled.functions if name != chosen),
    )

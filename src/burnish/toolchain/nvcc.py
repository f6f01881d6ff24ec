"""CUDA C++ to PTX by nvcc, with the user's own options.

nvcc is asked first what it would do (``--dryrun``): so the architecture, the options that its ptxas
would get and even its options files and environment variables are understood as nvcc does.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.errors import KernelError, ToolchainError, UsageError
from burnish.model.toolchain import Tool
from burnish.toolchain.folder import own_folder
from burnish.toolchain.nvcc_words import sorted_out
from burnish.toolchain.options import Normal, normal_form
from burnish.toolchain.process import End, Limits, Outcome, run

__all__ = ["Translated", "ptxas_beside", "ptxas_calls", "translate"]

LIMITS = Limits(wall_s=600.0, output_bytes=16 << 20)

_COMMAND = "#$ "
_ERROR = re.compile(r"^(?P<place>.*?\(\d+\)): (?:catastrophic |fatal )?error[^:]*: (?P<what>.*)$")
_GCC_ERROR = re.compile(r"^(?P<place>[^\s:]+:\d+):\d+: (?:fatal )?error: (?P<what>.*)$")
_HINTS = (
    (r"nv/target|cuda/std|cub/|thrust/", "pip install nvidia-cuda-cccl, of nvcc's own release"),
    (r"crt/[\w.]+", "pip install nvidia-cuda-crt, of nvcc's own release"),
    (r"cuda_runtime\.h|cuda_fp16\.h", "pip install nvidia-cuda-runtime, of nvcc's own release"),
    (r"cicc: not found|cicc.*No such file", "pip install nvidia-nvvm, of nvcc's own release"),
    (
        r"gcc: (?:command )?not found|host compiler properties|Cannot find compiler|execvp failed",
        "nvcc needs a host compiler: install g++, or name one with -ccbin",
    ),
    (
        r"unsupported GNU version|unsupported clang version",
        "name an older host compiler with -ccbin, or try -allow-unsupported-compiler",
    ),
)


@dataclass(frozen=True, slots=True)
class Translated:
    """What nvcc makes of a source on the way to machine code.

    Attributes:
        ptx: The PTX module.
        normal: The command line that nvcc's ptxas gets: architecture and options.
        warnings: What nvcc said.
    """

    ptx: str
    normal: Normal
    warnings: str


@dataclass(frozen=True, slots=True)
class _Pass:
    """One way through nvcc: from a virtual architecture to a real one."""

    virtual: str
    normal: Normal


def ptxas_beside(nvcc: Tool) -> Path:
    """The ptxas that an nvcc calls."""
    return nvcc.path.with_name("ptxas")


def ptxas_calls(nvcc: Path, argv: Sequence[str]) -> int:
    """How often nvcc would call ptxas for a command line; 0 where it refuses that."""
    asked = run([str(nvcc), *argv, "--dryrun"], limits=LIMITS)
    commands = _commands(asked.stderr.decode(errors="replace")) if asked.ok else ()
    return sum(Path(words[0]).name == "ptxas" for words in commands)


def translate(
    nvcc: Tool, source: Path, options: Sequence[str], arch: str = "", *, folder: Path
) -> Translated:
    """Make PTX of a CUDA C++ file.

    Args:
        nvcc: The compiler.
        source: The file.
        options: Of the user's build, architectures and outputs too.
        arch: The real architecture, such as ``sm_90a``; may be left out where the options name
            one. Where they name none, it is compiled for.
        folder: Holds a folder with this call's files for as long as the call takes.

    Raises:
        UsageError: The options name inputs, or not that architecture, or several.
        KernelError: The source does not compile; the first error is the message.
        ToolchainError: nvcc is broken, lacks a part or did not end.
    """
    words = sorted_out(options)
    if words.inputs:
        raise UsageError(f"{words.inputs[0]}: the options after -- name an input file of their own")
    plain = [str(nvcc.path), *words.kept]
    arches = words.arches or ((_gencode(arch),) if arch else ())
    with own_folder(folder, parents=True) as place:
        target = ["-c", "-o", str(place / "k.o"), str(source)]
        asked = run([*plain, *arches, "--dryrun", *target], limits=LIMITS)
        _require(asked, nvcc, source)
        chosen = _chosen(_passes(asked.stderr.decode(errors="replace")), arch, source)
        out = place / "k.ptx"
        virtual = f"-gencode=arch={chosen.virtual},code={chosen.virtual}"
        # With its own temporary files beside the output, a killed nvcc leaves nothing behind.
        made = run(
            [*plain, virtual, "--objdir-as-tempdir", "-ptx", "-o", str(out), str(source)],
            limits=LIMITS,
        )
        _require(made, nvcc, source)
        normal = replace(chosen.normal, inputs=(), output=None)  # names of temporary files
        return Translated(out.read_text(), normal, _said(made))


def _gencode(arch: str) -> str:
    # Not -arch: for an architecture with features of its own, nvcc 13 adds the plain one.
    return f"-gencode=arch={arch.replace('sm_', 'compute_')},code={arch}"


def _passes(text: str) -> list[_Pass]:
    """What nvcc would do, one pass for each machine code that it makes."""
    virtual: dict[str, str] = {}
    passes: list[_Pass] = []
    for argv in _commands(text):
        program = Path(argv[0]).name
        if program == "cicc" and "-arch" in argv and "-o" in argv:
            virtual[argv[argv.index("-o") + 1]] = argv[argv.index("-arch") + 1]
        elif program == "ptxas":
            normal = normal_form(argv[1:])
            if normal.output and normal.inputs[:1] and normal.inputs[0] in virtual:
                passes.append(_Pass(virtual[normal.inputs[0]], normal))
    return passes


def _commands(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        if line.startswith(_COMMAND) and (" ptxas " in f" {line[3:]}" or "cicc" in line[:80]):
            try:
                yield shlex.split(line[len(_COMMAND) :])
            except ValueError:
                continue


def _chosen(passes: Sequence[_Pass], arch: str, source: Path) -> _Pass:
    if not passes:
        raise UsageError(
            f"{source}: these options make no machine code by ptxas (device LTO, or PTX alone), "
            "so there is nothing to tune"
        )
    known = {one.normal.arch: one for one in passes}
    listed = ", ".join(known)
    if arch and arch not in known:
        raise UsageError(f"{source}: the options compile for {listed}, not for {arch}")
    if not arch and len(known) > 1:
        raise UsageError(f"{source}: the options compile for {listed}; choose with --arch")
    return known[arch] if arch else passes[0]


def _require(outcome: Outcome, nvcc: Tool, source: Path) -> None:
    if outcome.ok:
        return
    if outcome.end is End.TIMEOUT:
        raise ToolchainError(f"{source}: {nvcc.name} did not end within {LIMITS.wall_s:g} s")
    if outcome.end is End.MISSING:
        raise ToolchainError(f"{nvcc.path} cannot be started: {_said(outcome)}")
    lines = [line.strip() for line in _said(outcome).splitlines() if line.strip()]
    hint = next((advice for what, advice in _HINTS if re.search(what, "\n".join(lines))), "")
    errors = [found for line in lines if (found := _ERROR.match(line) or _GCC_ERROR.match(line))]
    if hint:
        first = f"{errors[0]['place']}: {errors[0]['what']}" if errors else lines[-1]
        raise ToolchainError(f"{nvcc.name}: {first}; {hint}")
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise KernelError(f"{errors[0]['place']}: {errors[0]['what']}{more}")
    fatal = [line for line in lines if "fatal" in line or "error" in line]
    last = [*lines, f"code {outcome.code}, without a word"][: len(lines) or 1][-1]
    raise KernelError(f"{source}: {nvcc.name} failed: {fatal[0] if fatal else last}")


def _said(outcome: Outcome) -> str:
    text = (outcome.stdout + outcome.stderr).decode(errors="replace")
    return "\n".join(line for line in text.splitlines() if not line.startswith(_COMMAND))

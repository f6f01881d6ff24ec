"""The words of an nvcc command line: which say where the output goes, which name architectures.

nvcc itself says what they come to (`burnish.toolchain.nvcc` asks it), so only these few are looked
at; everything else is passed on as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Words", "sorted_out", "without_value"]

_PHASE_NAMES = """
c compile cubin cuda dryrun E fatbin keep lib link ltoir M MD MM MMD MP ptx run save-temps v verbose
v2 verbose2 generate-dependencies generate-nonsystem-dependencies
generate-dependencies-with-compile generate-nonsystem-dependencies-with-compile
generate-dependency-targets preprocess objdir-as-tempdir objtemp clean clean-targets optix-ir shared
"""
_PHASE_NAMES_WITH_VALUE = """
o output-file MF dependency-output MT dependency-target-name odir output-directory keep-dir time t
threads fdevice-time-trace run-args
"""
_NAMES_WITH_VALUE = """
apply-controls arbin archiver-binary Xarchive archive-options ccbin compiler-bindir Xcompiler
compiler-options cudadevrt cudart D define-macro ddp dependency-drive-prefix default-stream
device-entity-has-hidden-visibility device-stack-protector diag-error diag-suppress diag-warn dopt
dp drive-prefix e entries fmad fmax-errors frandom-seed ftemplate-backtrace-limit ftemplate-depth
ftz I include-path idp input-drive-prefix include pre-include isystem system-include jtd
jump-table-density l library L library-path ldir libdevice-directory Xlinker linker-options m
machine maxrregcount Xnvlink nvlink-options Xnvprune nvprune-options O optimize Ofc Ofast-compile
opt-info optimization-info optf options-file prec-div prec-sqrt Xptxas ptxas-options qpp-config rdc
relocatable-device-code split-compile split-compile-extended static-global-template-stub std stdlib
target-dir target-directory U undefine-macro Werror x Xtileiras tileiras-options brief-diag
brief-diagnostics compress-mode hls host-linker-script fdevice-sanitize tile-preview
fdevice-time-trace-granularity
"""

# What decides the kind of output, and makes none of the code different.
_PHASES = frozenset(_PHASE_NAMES.split())
_PHASES_WITH_VALUE = frozenset(_PHASE_NAMES_WITH_VALUE.split())
_ARCHES = frozenset({"arch", "code", "gencode", "generate-code", "gpu-architecture", "gpu-code"})
# Options whose value may be the next word; those not listed here take none, or only with `=`.
_WITH_VALUE = frozenset(_NAMES_WITH_VALUE.split()) | _PHASES_WITH_VALUE | _ARCHES
_RELOCATABLE = frozenset({"dc", "device-c"})


@dataclass(frozen=True, slots=True)
class Words:
    """A command line, sorted out.

    Attributes:
        kept: What decides the code, as it was.
        arches: What names architectures, as it was.
        inputs: Files.
    """

    kept: tuple[str, ...]
    arches: tuple[str, ...]
    inputs: tuple[str, ...]


def sorted_out(options: Sequence[str]) -> Words:
    """Sort an nvcc command line out; without the program's name."""
    kept: list[str] = []
    arches: list[str] = []
    inputs: list[str] = []
    for name, words in _items(options):
        if not name:
            inputs += words
        elif name in _ARCHES:
            arches += words
        elif name in _RELOCATABLE:
            kept.append("--relocatable-device-code=true")
        elif name not in _PHASES and name not in _PHASES_WITH_VALUE:
            kept += words
    return Words(tuple(kept), tuple(arches), tuple(inputs))


def without_value(options: Sequence[str]) -> str:
    """The first word that needs a value and has none; empty where there is none such."""
    for name, words in _items(options):
        if name in _WITH_VALUE and len(words) == 1 and not words[0].partition("=")[2]:
            return words[0]
    return ""


def _items(options: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Every option with its value, under its name without dashes; files under an empty name."""
    words = iter(options)
    for word in words:
        if not word.startswith("-") or word == "-":
            yield "", [word]
            continue
        name, equals, _ = word.lstrip("-").partition("=")
        takes_next = not equals and name in _WITH_VALUE
        value = next(words, None) if takes_next else None
        yield name, [word] if value is None else [word, value]

"""A command line of gcc as a build: its C sources, and how to build some of them otherwise."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.toolchain.gcc_options import CommandLine, decides, parse, tokens

__all__ = ["Build", "Source", "expanded", "read_build"]

_ASKS = frozenset({"-E", "-M", "-MM", "-###", "-fsyntax-only"})
_PIC = re.compile(r"-f(no-)?(pic|pie)$", re.IGNORECASE)
# gcc names these files after the source and what it links; we would name them otherwise.
_BESIDE = re.compile(
    r"-(M|save-temps|gsplit-dwarf|-coverage|ftest-coverage|fprofile|fdump|fstack-usage"
    r"|fcallgraph-info|aux-info|dump)"
)
_DEPENDENCIES = "-Wp,-M"  # the preprocessor writes them wherever it runs
_MOST_NESTED = 20
_WORD = re.compile(
    r"""(?:[^\s'"\\]|\\.|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+""",
    re.DOTALL,
)
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|((?:[^'"\\]|\\.)+)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A C file on a command line.

    Attributes:
        name: The file.
        place: Where it stands.
        language: What ``-x`` says there; empty for nothing.
    """

    name: str
    place: int
    language: str


@dataclass(frozen=True, slots=True)
class Build:
    """What a command line builds.

    Attributes:
        words: Options with their values, and inputs, in order.
        line: The same, sorted by what they decide.
        sources: The C files that it compiles.
    """

    words: tuple[tuple[str, ...], ...]
    line: CommandLine
    sources: tuple[Source, ...]

    @property
    def links(self) -> bool:
        """Whether it goes on to a program or library."""
        return not self.line.stops_at

    @property
    def text_options(self) -> tuple[str, ...]:
        """What decides about the text of a source, beside what decides about machine code."""
        said = [word for word in self.line.preprocessing if not word.startswith(_DEPENDENCIES)]
        return (*said, *(one[0] for one in self.words if _PIC.match(one[0])))

    @property
    def beside(self) -> str:
        """An option for files beside the output; empty for none."""
        return next((one[0] for one in self.words if _BESIDE.match(one[0])), "")

    def alone(self, source: Source, options: Sequence[str], output: str) -> list[str]:
        """Arguments that build one source, with other options for its machine code.

        Args:
            source: The file.
            options: Options for machine code; they replace those of the command line.
            output: The object file, where the command line names the end of a link instead.
        """
        words = [*options]
        for place, one in enumerate(self.words):
            is_input = not one[0].startswith("-") or one == ("-",)
            is_kept = place == source.place if is_input else not decides(one[0])
            if is_kept and not (output and one[0].startswith("-o")):
                words += one
        return [*words, "-c", "-o", output] if output else words

    def rest(self, built: Mapping[Source, str]) -> list[str]:
        """Arguments that build what is left.

        Args:
            built: Sources that are built, with the object file; empty where none is needed.
        """
        objects = {source.place: (source, name) for source, name in built.items()}
        words: list[str] = []
        for place, one in enumerate(self.words):
            if place not in objects:
                words += one
                continue
            source, name = objects[place]
            again = [f"-x{source.language}"] if source.language else []
            words += [*(("-xnone",) if again else ()), name, *again] if name else []
        return words

    def leaves_inputs(self, built: Mapping[Source, str]) -> bool:
        """Whether anything is left to do after some sources are built."""
        return self.links or len(built) < len(self.line.inputs)


def read_build(argv: Sequence[str]) -> Build:
    """Take a command line apart, without the program's name. Nothing is refused."""
    words = tuple(tokens(expanded(argv)))
    line = parse([word for one in words for word in one])
    said = {one[0] for one in words}
    # Of several outputs into one file gcc itself says what is wrong.
    is_clear = not (said & _ASKS) and not (line.output and line.stops_at and len(line.inputs) > 1)
    return Build(words, line, tuple(_sources(words)) if is_clear else ())


def _sources(words: Sequence[tuple[str, ...]]) -> Iterator[Source]:
    language = ""
    for place, one in enumerate(words):
        if one[0].startswith("-x"):
            language = one[0][2:] if one[0] != "-xnone" else ""
        is_file = not one[0].startswith("-")
        if is_file and (language == "c" or (not language and one[0].endswith(".c"))):
            yield Source(one[0], place, language)


def expanded(argv: Sequence[str], nested: int = _MOST_NESTED) -> list[str]:
    """The words with those of ``@file`` in place of it, as gcc takes them."""
    words: list[str] = []
    for word in argv:
        text = _response(word[1:]) if word.startswith("@") and nested else None
        words += [word] if text is None else expanded(_split(text), nested - 1)
    return words


def _response(name: str) -> str | None:
    try:
        return Path(name).read_bytes().decode(errors="surrogateescape")
    except (OSError, ValueError):
        return None


def _split(text: str) -> list[str]:
    return [_bare(word) for word in _WORD.findall(text)]


def _bare(word: str) -> str:
    parts = (single or double or plain for single, double, plain in _QUOTED.findall(word))
    return "".join(_ESCAPE.sub(r"\1", part) for part in parts)

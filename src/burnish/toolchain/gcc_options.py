"""A gcc command line taken apart: what decides about machine code, and all the rest.

gcc's options are read from left to right, and later ones win over earlier ones; so their order is
kept, and only what is certainly overridden is left out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["CommandLine", "decides", "is_tuning_option", "parse", "tokens", "without_value"]

# Their value may be an argument of its own; the first kind only so.
_SEPARATE = {
    *("-include", "-imacros", "-Xpreprocessor", "-Xlinker", "-Xassembler", "-aux-info"),
    *("-dumpbase", "-dumpdir", "-wrapper", "-MF", "-MT", "-MQ", "-isysroot", "-imultilib"),
}
_EITHER = {
    *("-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix"),
    *("-iwithprefixbefore", "-o", "-x", "-L", "-l", "-T", "-u", "-z", "-B"),
}
_PREPROCESSING = re.compile(
    r"-(D|U|I|include|imacros|isystem|iquote|idirafter|isysroot|iprefix|iwithprefix|imultilib"
    r"|Xpreprocessor|Wp,|pthread$|undef$|nostdinc$|ansi$|std=)"
)
_LINKING = re.compile(
    r"-(L|l|T|u|z|Xlinker|Wl,|shared|static|pie$|no-pie$|rdynamic|nostdlib|nodefaultlibs"
    r"|nostartfiles|pthread$|fopenmp|fuse-ld=|s$)"
)
# Neither the machine code nor what it does depends on these.
_NOTHING = re.compile(
    r"-(c|S|E|C|CC|P|v|###|pipe|w|Q|H|W(?!l,|a,|p,).*|pedantic.*|g.*|save-temps.*|time.*"
    r"|M(|M|D|MD|G|P|F.*|T.*|Q.*)|x.*|dump(base|dir).*|aux-info.*|d[A-Z]*|print-.*|no-canonical-prefixes"
    r"|f(no-)?(diagnostics|message-length|max-errors|verbose-asm|time-report|mem-report|ident"
    r"|debug-prefix-map|file-prefix-map|macro-prefix-map|random-seed|stack-usage|dump-|pic$|PIC$"
    r"|pie$|PIE$|working-directory|compare-debug|track-macro-expansion|show-column).*)$"
)
_SWITCH = re.compile(r"-f(?:no-)?([a-z0-9-]+)|-(m[a-z0-9-]+)=|-(-param=[A-Za-z0-9-]+)=|-(O)")
# These stand for several others: what lies between two of them counts.
_UMBRELLAS = {
    *("fast-math", "unsafe-math-optimizations", "tree-vectorize", "unroll-all-loops"),
    *("unroll-loops", "profile-use", "branch-probabilities", "sanitize"),
}
_ADDING = {"mtune-ctrl"}
_TUNING = re.compile(
    r"-O([0-3sgz]|fast)|-[fm][a-z0-9][a-z0-9.+-]*(=[A-Za-z0-9:,_+.-]+)?|--param=[A-Za-z0-9-]+=-?\d+"
)
# These read or write files, run programs, or ask for things at the link.
_NO_TUNING = re.compile(
    r"-f(plugin|dump|profile|auto-profile|save-|callgraph|test-coverage|sanitize|instrument|lto"
    r"|opt-info|stack-usage|ada|module|compare-debug|pch|preprocessed|working-directory|use-ld)"
    r"|-f(no-)?(openmp|openacc|split-stack)|-mveclibabi|-m(no-)?(fentry|record|stack-protector-guard)"
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What a gcc command line says.

    Attributes:
        options: What decides about machine code, in order; the level first.
        preprocessing: What decides about the text that is compiled, in order.
        linking: What decides about the link, in order.
        inputs: Files, in order; ``-`` is standard input.
        output: Argument of ``-o``; empty where there is none.
        stops_at: ``-c``, ``-S`` or ``-E`` where one is given; empty: it links.
    """

    options: tuple[str, ...] = ()
    preprocessing: tuple[str, ...] = ()
    linking: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    output: str = ""
    stops_at: str = ""


def parse(argv: Sequence[str]) -> CommandLine:
    """Take a command line apart, without the program's name. Nothing is refused.

    ``options`` are in normal form: one argument an option, without what is overridden, without
    the kinds of position-independent code (the plain and the tuned build are both made the same
    way). What is not known counts. Options of preprocessing do not: the key of a kernel is made
    of preprocessed text; but the language standard does, as it decides about arithmetic too.
    """
    everything = list(tokens(argv))
    inputs = _flat(one for one in everything if not one[0].startswith("-") or one == ("-",))
    said = [one for one in everything if one[0].startswith("-") and one != ("-",)]
    words = [one[0] for one in said]
    outputs = [word[2:] for word in words if word.startswith("-o")]
    return CommandLine(
        options=_normal([one for one in said if decides(one[0])]),
        preprocessing=_flat(one for one in said if _PREPROCESSING.match(one[0])),
        linking=_flat(one for one in said if _LINKING.match(one[0])),
        inputs=inputs,
        output=outputs[-1] if outputs else "",
        stops_at=next((word for word in ("-E", "-S", "-c") if word in words), ""),
    )


def is_tuning_option(option: str) -> bool:
    """Whether an option may come out of a controls file.

    It must be one that decides about machine code and does nothing else: no files, no programs.
    """
    return bool(_TUNING.fullmatch(option)) and not _NO_TUNING.match(option)


def tokens(argv: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Options with their values: as one word where gcc takes it so, else as two."""
    words = iter(argv)
    for word in words:
        if word in _EITHER:
            yield (word + next(words, ""),)
        elif word in _SEPARATE:
            yield (word, next(words, ""))
        elif word == "--param":
            yield (f"--param={next(words, '')}",)
        else:
            yield (word,)


def without_value(argv: Sequence[str]) -> str:
    """The word that needs a value and has none; empty where there is none such."""
    words = iter(argv)
    for word in words:
        if word in {*_EITHER, *_SEPARATE, "--param"} and not next(words, ""):
            return word
    return ""


def decides(word: str) -> bool:
    """Whether an option may decide about machine code: what is not known does."""
    if word.startswith(("-std=", "-fopenmp")) or word == "-ansi":
        return True
    others = (_NOTHING.match(word), _PREPROCESSING.match(word), _LINKING.match(word))
    return not word.startswith("-o") and not any(others)


def _normal(said: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    kept: list[tuple[str, ...]] = []
    overridden: set[str] = set()
    for one in reversed(said):
        what = _what(one[0])
        if what in overridden:
            continue
        if what:
            overridden.add(what)
        kept.append((_level(one[0]),) if what == "O" else one)
    kept.reverse()
    kept.sort(key=lambda one: not one[0].startswith("-O"))  # the level holds wherever it stands
    return _flat(kept)


def _what(word: str) -> str:
    """What a later option of the same kind overrides; empty where that is not certain."""
    found = _SWITCH.match(word)
    what = next(filter(None, found.groups()), "") if found else ""
    return "" if what in _UMBRELLAS or what in _ADDING else what


def _level(word: str) -> str:
    level = word.removeprefix("-O")
    if not level:
        return "-O1"
    return "-O3" if level.isdecimal() and int(level) > 3 else word  # noqa: PLR2004 - gcc's highest


def _flat(tokens: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(word for token in tokens for word in token)

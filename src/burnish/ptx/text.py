"""PTX as characters: comments, strings, white space and debug marks.

Everything here keeps to the text; what a statement means is in `burnish.ptx.module`.
"""

import re
from itertools import pairwise
from string import ascii_letters, digits

from burnish.errors import KernelError

__all__ = [
    "DEBUG_LABEL",
    "LINE_MARK",
    "bare",
    "canonical",
    "closing",
    "line_of",
    "skeleton",
    "tidy",
    "without_debug",
]

# Patterns that begin with plain characters are found many times faster.
LINE_MARK = (
    r"\.loc\s+\d+\s+\d+\s+\d+"
    r"(?:\s*,\s*function_name\s+[\w$]+(?:\s*\+\s*\d+)?)?"
    r"(?:\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?(?![\w$])"
)
"""Pattern of a ``.loc``, whole."""

DEBUG_LABEL = r"\$L__(?:tmp|func_begin|func_end)\d+\s*:"
"""Pattern of a label that only debug sections use."""

_SKIP = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|/\*|"', re.DOTALL)
_STRING = re.compile(r'("(?:[^"\\\n]|\\.)*")')
_NOT_NEWLINE = re.compile(r"[^\n]")
_LOC = re.compile(LINE_MARK)
_LABEL = re.compile(DEBUG_LABEL)
_BRACE = re.compile(r"[{}]")
_OF_WORDS = frozenset(ascii_letters + digits + "_$%.")


def bare(text: str) -> str:
    """Blank every comment; offsets and lines stay what they are.

    Raises:
        KernelError: A comment or a string does not end.
    """

    def blank(match: re.Match[str]) -> str:
        said = match[0]
        if said.startswith("//"):
            return " " * len(said)
        if len(said) > 1 and said[0] == '"':
            return said
        if said in {'"', "/*"}:
            what = "string" if said == '"' else "comment"
            raise KernelError(
                f"line {line_of(text, match.start())}: this {what} does not end; is the PTX whole?"
            )
        return _NOT_NEWLINE.sub(" ", said)

    return _SKIP.sub(blank, text) if "/" in text or '"' in text else text


def skeleton(code: str) -> str:
    """Blank what is inside strings, in text without comments, so that braces can be counted."""
    if not any(mark in text for text in _STRING.findall(code) for mark in "{};()"):
        return code
    return _STRING.sub(lambda match: f'"{" " * (len(match[0]) - 2)}"', code)


def closing(mask: str, opening: int) -> int:
    """The end of a group in braces, in text where strings are blank; -1 where it has none."""
    depth = 0
    for brace in _BRACE.finditer(mask, opening):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return -1


def canonical(code: str) -> str:
    """Write text without comments in the one form that digests see.

    White space is one blank between two words and nothing elsewhere; ``.loc`` and the labels that
    only debug sections use are gone; strings stay as they are.
    """
    if '"' not in code:
        return _tight(code)
    pieces = _STRING.split(code)
    pieces[::2] = [_tight(piece) for piece in pieces[::2]]
    return "".join(pieces)


def line_of(text: str, offset: int) -> int:
    """The number of the line of an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def without_debug(code: str) -> str:
    """Take out ``.loc`` and the labels that only debug sections use."""
    return _LABEL.sub(" ", _LOC.sub(" ", code))


def tidy(code: str) -> str:
    """Take out of text without comments line marks, empty lines and blanks at the end of lines."""
    lines = (line.rstrip() for line in without_debug(code).splitlines())
    return "\n".join(line for line in lines if line)


def _tight(code: str) -> str:
    words = without_debug(code).split()
    return "".join(
        [
            word + " " if word[-1] in _OF_WORDS and after[0] in _OF_WORDS else word
            for word, after in pairwise([*words, ";"])
        ]
    )

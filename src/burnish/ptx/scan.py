"""The statements of a PTX module, one after the other.

Comments are blanked by one regular expression and braces counted by another; bodies stay text.
"""

import re
from collections.abc import Iterator

from burnish.errors import KernelError
from burnish.ptx.declared import Alias, Function, Variable
from burnish.ptx.text import bare, closing, line_of, skeleton

__all__ = ["Scan"]

_STATEMENT = re.compile(
    r"\s*(?:(?:\.(?P<linkage>visible|extern|weak|common)\s*)?\.(?P<kind>\w+)|(?P<other>\S))"
)
_HEADER = re.compile(
    r"(?:\.attribute\s*\([^)]*\)\s*)?(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[A-Za-z_$%][\w$%]*)"
)
_LINE = re.compile(r"[^\n]*")
_VERSION = re.compile(r"\s*(\d+\.\d+)")
_TARGET = re.compile(r"\s*[\w+]+(?:\s*,\s*\w+)*")
_NUMBER = re.compile(r"\s*\d+")
_FILE = re.compile(r'\s*\d+\s*"(?:[^"\\\n]|\\.)*"(?:\s*,\s*\d+\s*,\s*\d+)?')
_OPENS = re.compile(r"[{;]")
_PRAGMA_LAST = re.compile(r'\.pragma\s*"[^"]*"(?:\s*,\s*"[^"]*")*\s*$')
_ALIAS = re.compile(r"\s*([A-Za-z_$%][\w$%]*)\s*,\s*([A-Za-z_$%][\w$%]*)\s*;")
_VARIABLE = re.compile(r"([A-Za-z_$%][\w$%]*)\s*(?:\[[^\]]*\]\s*)*(?==|;)")
_SPACES = {"const", "global", "local", "param", "reg", "sampler", "shared", "sreg", "surf", "tex"}
_BLANK = re.compile(r"\s*")


class Scan:
    """One pass over the statements of a module: `run`, then read the fields.

    Raises:
        KernelError: From the start and from `run`: the text is cut off or no PTX.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = bare(text)
        self.mask = skeleton(self.code)
        self.version = self.target = ""
        self.address_size = 32
        self.functions: list[Function] = []
        self.variables: list[Variable] = []
        self.aliases: list[Alias] = []
        self.pragmas: list[str] = []
        self.sections: list[tuple[int, int]] = []

    def run(self) -> None:
        """Read every statement."""
        for start, kind, linkage, after in self._statements():
            if kind in {"entry", "func"}:
                self._function(start, kind, linkage, after)
            elif kind in _SPACES:
                self._variable(start, kind, linkage, after)
            elif kind == "section":
                self.sections.append((start, self._end))
            elif kind == "pragma":
                self.pragmas.append(self.code[start : self._end])
            elif kind == "alias":
                self._alias(start, after)
            else:
                self._setting(kind, self.code[after : self._end].strip())

    def _statements(self) -> Iterator[tuple[int, str, str, int]]:
        """Start, kind, linkage and end of the keyword of each; ``_end`` is the statement's end."""
        self._end = 0
        while match := _STATEMENT.match(self.mask, self._end):
            start = match.start("linkage") - 1 if match["linkage"] else match.start("kind") - 1
            if match["other"]:
                self._end = self._stray(match.start("other"))
                continue
            self._end = self._end_of(match["kind"], match.end(), start)
            yield start, match["kind"], match["linkage"] or "", match.end()

    def _stray(self, at: int) -> int:
        """Skip what is no statement: an empty one, or a line of old debug data."""
        if self.mask[at] == ";":
            return at + 1
        if self.mask.startswith("@@", at):
            return self._after(_LINE, at)
        said = self._after(_LINE, at)
        raise KernelError(
            f"line {line_of(self.text, at)}: this is no PTX: {self.text[at:said].strip()[:60]!r}"
        )

    def _end_of(self, kind: str, after: int, start: int) -> int:
        if kind in {"entry", "func"}:
            return self._end_of_function(after, start)
        if kind == "section":
            return self._closing(self._find("{", after, start), start)
        if kind in _SPACES or kind in {"alias", "pragma"}:
            return self._find(";", after, start) + 1
        patterns = {"version": _VERSION, "target": _TARGET, "address_size": _NUMBER, "file": _FILE}
        if kind in patterns or kind == "loc":
            return self._after(patterns.get(kind, _LINE), after)
        raise KernelError(f"line {line_of(self.text, start)}: .{kind} is not understood here")

    def _end_of_function(self, after: int, start: int) -> int:
        at = after
        while found := _OPENS.search(self.mask, at):
            if found[0] == "{":
                return self._closing(found.start(), start)
            if not _PRAGMA_LAST.search(self.code, after, found.start()):
                return found.end()
            at = found.end()
        raise self._cut(start)

    def _closing(self, opening: int, start: int) -> int:
        end = closing(self.mask, opening)
        if end < 0:
            raise self._cut(start)
        return end

    def _find(self, mark: str, after: int, start: int) -> int:
        found = self.mask.find(mark, after)
        if found < 0:
            raise self._cut(start)
        return found

    def _after(self, pattern: re.Pattern[str], at: int) -> int:
        match = pattern.match(self.code, at)
        return match.end() if match else at

    def _cut(self, start: int) -> KernelError:
        line = line_of(self.text, start)
        return KernelError(f"line {line}: this statement does not end; is the PTX whole?")

    def _setting(self, kind: str, said: str) -> None:
        if kind == "version":
            self.version = said
        elif kind == "target":
            self.target = ", ".join(part.strip() for part in said.split(","))
        elif kind == "address_size":
            self.address_size = int(said or 0)

    def _function(self, start: int, kind: str, linkage: str, after: int) -> None:
        span = (start, self._end)
        found = _HEADER.match(self.mask, self._after(_BLANK, after), span[1])
        if not found:
            raise KernelError(f"line {line_of(self.text, start)}: this .{kind} has no name")
        code = self.code[slice(*span)]
        body = self.mask.find("{", found.end(), span[1]) if code.endswith("}") else -1
        self.functions.append(
            Function(
                name=found["name"],
                linkage=linkage,
                is_entry=kind == "entry",
                span=span,
                text=self.text[slice(*span)],
                code=code,
                body=body - start if body >= 0 else -1,
            )
        )

    def _variable(self, start: int, kind: str, linkage: str, after: int) -> None:
        span = (start, self._end)
        found = _VARIABLE.search(self.mask, after, span[1])
        if not found:
            raise KernelError(f"line {line_of(self.text, start)}: this .{kind} has no name")
        text, code = self.text[slice(*span)], self.code[slice(*span)]
        self.variables.append(Variable(found[1], linkage, kind, span, text, code))

    def _alias(self, start: int, after: int) -> None:
        span = (start, self._end)
        found = _ALIAS.match(self.mask, after)
        if not found:
            raise KernelError(f"line {line_of(self.text, start)}: .alias wants two names")
        text, code = self.text[slice(*span)], self.code[slice(*span)]
        self.aliases.append(Alias(found[1], span, text, code))

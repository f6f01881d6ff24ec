"""A PTX module by its top-level statements: a cheap scanner, not a parser of instructions.

A 5,000-line module takes milliseconds: comments are blanked by one regular expression, braces are
counted by another, and bodies stay text. Every symbol knows its span, so that later passes can
replace one and leave every other character alone.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from burnish.errors import KernelError
from burnish.ptx.declared import Alias, Function, Variable
from burnish.ptx.scan import Scan

__all__ = ["Module", "Symbol", "parse"]

_BEFORE_A_NAME = re.compile(r"[\w$%.]")
_IN_A_NAME = re.compile(r"[\w$]")


Symbol = Function | Variable | Alias


@dataclass(frozen=True)
class Module:
    """A PTX module.

    Attributes:
        text: The source as it is.
        version: Of the language: ``8.7``.
        target: As declared: ``sm_90a``, with what may follow: ``sm_90, debug``.
        address_size: 32 or 64.
        functions: Entries and device functions, declarations too, in order.
        variables: Variables of the module, in order.
        aliases: Other names of functions.
        pragmas: Texts of what is said to the whole module, without comments.
        sections: Spans of debug sections.
    """

    text: str
    version: str
    target: str
    address_size: int
    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    aliases: tuple[Alias, ...]
    pragmas: tuple[str, ...]
    sections: tuple[tuple[int, int], ...]

    @cached_property
    def entries(self) -> tuple[Function, ...]:
        """The entries that are defined here, in order."""
        return tuple(found for found in self.functions if found.is_entry and found.is_defined)

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Every symbol by name; of several, the definition, else the alias."""
        found: dict[str, Symbol] = {}
        listed: tuple[Symbol, ...] = (*self.variables, *self.functions, *self.aliases)
        for symbol in listed:
            known = found.get(symbol.name)
            if known is None or _rank(symbol) > _rank(known):
                found[symbol.name] = symbol
        return found

    def entry(self, name: str) -> Function:
        """The entry of a name.

        Raises:
            KernelError: There is none; the message lists those that there are.
        """
        for found in self.entries:
            if found.name == name:
                return found
        known = ", ".join(found.name for found in self.entries)
        raise KernelError(f"no entry {name!r} in this PTX; it has: {known}")

    def references(self, symbol: Symbol) -> tuple[str, ...]:
        """Names of the module's symbols that a symbol's text mentions, by first appearance."""
        places = [
            (place, name)
            for name in self.symbols
            if name != symbol.name and (place := _mention(symbol.code, name)) >= 0
        ]
        return tuple(name for _, name in sorted(places))

    def is_used(self, name: str) -> bool:
        """Whether any other symbol's text mentions a name."""
        return any(
            _mention(symbol.code, name) >= 0
            for symbol in self.symbols.values()
            if symbol.name != name
        )

    def reached(self, name: str) -> tuple[Symbol, ...]:
        """A symbol and all that it uses, directly or not, nearest first."""
        found = {name: self.symbols[name]}
        waiting = [name]
        for current in waiting:
            for used in self.references(self.symbols[current]):
                if used not in found:
                    found[used] = self.symbols[used]
                    waiting.append(used)
        return tuple(found.values())


def parse(text: str, *, needs_entry: bool = True) -> Module:
    """Read the top level of a module.

    Args:
        text: PTX.
        needs_entry: Whether a module without an entry is refused.

    Raises:
        KernelError: The text is empty, cut off, no PTX, or has no entry.
    """
    if not text.strip():
        raise KernelError("the PTX is empty")
    scan = Scan(text)
    scan.run()
    if not scan.version or (needs_entry and not scan.target):
        missing = ".target" if scan.version else ".version"
        raise KernelError(f"this is no PTX: it has no {missing}")
    module = Module(
        text=text,
        version=scan.version,
        target=scan.target,
        address_size=scan.address_size,
        functions=tuple(scan.functions),
        variables=tuple(scan.variables),
        aliases=tuple(scan.aliases),
        pragmas=tuple(scan.pragmas),
        sections=tuple(scan.sections),
    )
    if needs_entry and not module.entries:
        raise KernelError("this PTX has no .entry, so there is nothing to launch")
    return module


def _rank(symbol: Symbol) -> int:
    if isinstance(symbol, Alias):
        return 1
    return 2 if isinstance(symbol, Function) and symbol.is_defined else 0


def _mention(code: str, name: str) -> int:
    """Where a name is used as a whole word, or -1."""
    at = code.find(name)
    while at >= 0:
        end = at + len(name)
        whole = not (at and _BEFORE_A_NAME.match(code, at - 1)) and not _IN_A_NAME.match(code, end)
        if whole:
            return at
        at = code.find(name, at + 1)
    return -1

"""Which symbols of a tuned module are those of the plain one, and which travel with the entry.

A symbol is shared where the plain module has it under the same name, with the same text, and the
same holds for all that it uses. Names are compared in the form that digests see, so that two
builds of one source agree. What is not shared travels, under a private name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from burnish.errors import KernelError
from burnish.model.names import Binding, bind, neutral
from burnish.ptx.declared import Alias, Function, Variable
from burnish.ptx.digest import plain_form
from burnish.ptx.module import Module, Symbol
from burnish.ptx.text import canonical

__all__ = ["Sharing", "View", "declaration"]

_STATE = {"const", "global"}


@dataclass(frozen=True)
class View:
    """A module as one of its entries sees it.

    Attributes:
        module: The module.
        entry: The name of the entry in it.
        binding: What placeholders stand for, as the entry numbers them.
    """

    module: Module
    entry: str
    binding: Binding

    @classmethod
    def of(cls, module: Module, entry: str) -> "View":
        """The view of an entry.

        Raises:
            KernelError: There is no such entry.
        """
        return cls(module, entry, plain_form(module, entry).binding)

    @cached_property
    def reached(self) -> dict[str, Symbol]:
        """What the entry uses, without itself, by neutral name."""
        found = self.module.reached(self.entry)[1:]
        return {self.name(symbol.name): symbol for symbol in found}

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """Everything in the module, by neutral name."""
        return {self.name(name): symbol for name, symbol in self.module.symbols.items()}

    def name(self, name: str) -> str:
        """The neutral form of a name."""
        return neutral(name, self.binding)

    def text(self, symbol: Symbol) -> str:
        """The neutral text of a symbol, in the canonical form."""
        return neutral(canonical(symbol.code), self.binding)

    def uses(self, symbol: Symbol) -> list[str]:
        """Neutral names of what a symbol uses directly."""
        return [self.name(used) for used in self.module.references(symbol)]


@dataclass(frozen=True)
class Sharing:
    """The comparison of a plain and a tuned module, for one entry."""

    plain: View
    tuned: View

    @classmethod
    def between(cls, plain: Module, tuned: Module, entry: str) -> "Sharing":
        """Compare two modules.

        Raises:
            KernelError: The entry is missing in one, or the modules do not fit together.
        """
        return cls(View.of(plain, entry), View.of(tuned, _entry_like(tuned, entry)))

    def __post_init__(self) -> None:
        self._refuse_other_settings()
        self._refuse_state()

    @cached_property
    def shared(self) -> frozenset[str]:
        """Neutral names of what both modules have alike."""
        names = {
            name
            for name, symbol in self.tuned.reached.items()
            if name in self.plain.symbols
            and self.tuned.text(symbol) == self.plain.text(self.plain.symbols[name])
        }
        while lost := {
            name
            for name in names
            if not names.issuperset(self.tuned.uses(self.tuned.reached[name]))
        }:
            names -= lost
        return frozenset(names)

    @cached_property
    def lacking(self) -> tuple[Symbol, ...]:
        """What the plain module lacks, in the order of the tuned one."""
        found = [symbol for name, symbol in self.tuned.reached.items() if name not in self.shared]
        return tuple(sorted(found, key=lambda symbol: symbol.span))

    @cached_property
    def private(self) -> tuple[Symbol, ...]:
        """What of it needs a name of its own: all but declarations of things elsewhere."""
        return tuple(symbol for symbol in self.lacking if not self._is_elsewhere(symbol))

    def _is_elsewhere(self, symbol: Symbol) -> bool:
        if isinstance(symbol, Function):
            return not symbol.is_defined
        known = self.tuned.name(symbol.name) in self.plain.symbols
        return isinstance(symbol, Variable) and symbol.linkage == "extern" and not known

    def _refuse_other_settings(self) -> None:
        plain, tuned = self.plain.module, self.tuned.module
        for what, ours, theirs in (
            (".target", plain.target, tuned.target),
            (".address_size", plain.address_size, tuned.address_size),
            (".pragma", list(map(canonical, plain.pragmas)), list(map(canonical, tuned.pragmas))),
            ("parameters", _sizes(plain, self.plain.entry), _sizes(tuned, self.tuned.entry)),
        ):
            if ours != theirs:
                raise KernelError(
                    f"{self.plain.entry}: the tuned PTX has other {what} than the plain one: "
                    f"{theirs}, not {ours}"
                )

    def _refuse_state(self) -> None:
        """Refuse what a private copy would split in two: memory that others see as well."""
        unused = [
            symbol.name
            for name, symbol in self.plain.reached.items()
            if _is_state(symbol) and name not in self.shared
        ]
        for symbol in self.lacking:
            reason = self._split(symbol, unused)
            if reason:
                raise KernelError(
                    f"{self.plain.entry}: the tuned PTX cannot replace the plain entry: "
                    f"{symbol.name} {reason}"
                )

    def _split(self, symbol: Symbol, unused: list[str]) -> str:
        if isinstance(symbol, Alias):
            return "is an alias that the plain module lacks"
        same = self.plain.symbols.get(self.tuned.name(symbol.name))
        is_shared_memory = isinstance(symbol, Variable) and symbol.space == "shared"
        if same and not is_shared_memory and _is_public(symbol, same):
            return "is declared differently there"
        if not _is_state(symbol):
            return ""
        assert isinstance(symbol, Variable)
        if not symbol.is_initialised:
            return "is memory that the plain module lacks"
        return f"would stand for {unused[0]}, which others may see" if unused else ""


def declaration(view: View, symbol: Symbol) -> str:
    """How a symbol is declared, in canonical and neutral form, without body and initial value."""
    if isinstance(symbol, Function):
        head = symbol.header.rstrip().removesuffix(";")
    elif isinstance(symbol, Variable):
        head = symbol.code.partition("=")[0].rstrip().removesuffix(";")
    else:
        head = symbol.code
    return neutral(canonical(head), view.binding)


def _is_public(symbol: Symbol, same: Symbol) -> bool:
    """Whether either is a thing of which there can be only one of that name."""
    if isinstance(symbol, Function) and isinstance(same, Function):
        return not (symbol.is_defined and same.is_defined)
    return any(not isinstance(one, Alias) and one.linkage for one in (symbol, same))


def _is_state(symbol: Symbol) -> bool:
    """Whether it is memory with a name that others can know; generated texts are not."""
    generated = bool(bind(symbol.name).texts)
    return isinstance(symbol, Variable) and symbol.space in _STATE and not generated


def _sizes(module: Module, entry: str) -> list[int]:
    return [parameter.size_bytes for parameter in module.entry(entry).parameters]


def _entry_like(module: Module, entry: str) -> str:
    """The entry of the same name, but for what of it tells of a file."""
    names = [found.name for found in module.entries]
    wanted = _nameless(entry)
    return next((name for name in _first(entry, names) if _nameless(name) == wanted), entry)


def _first(entry: str, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name != entry)


def _nameless(name: str) -> str:
    return neutral(name, bind(name))

"""Replacing one entry of a module by a tuned one: the payload that a controls file carries.

A payload is PTX with three liberties: private names hold placeholders (`burnish.model.names`),
which are bound again to the module that it is applied to; it has a ``.version`` but no
``.target``; and ``// burnish uses`` lines fix how the plain module's own symbols are declared.
"""

import hashlib
import re
from collections.abc import Iterable

from burnish.errors import KernelError
from burnish.model.names import Binding, actual, has_placeholder, neutral
from burnish.ptx.declared import Function, Variable
from burnish.ptx.module import Module, Symbol, parse
from burnish.ptx.sharing import Sharing, View, declaration
from burnish.ptx.text import bare, canonical, tidy, without_debug

__all__ = ["apply_payload", "lower_version", "payload", "refuses", "uses_setmaxnreg"]

_VERSION = re.compile(r"^(\s*\.version\s+)(\d+\.\d+)", re.MULTILINE)
_USES = re.compile(r"^// burnish uses (\S+) ([0-9a-f]{16})$", re.MULTILINE)
_LINKAGE = re.compile(r"\.(?:visible|weak|common)\s*(?=\.)")
_LABEL = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:")
_PRIVATE = re.compile(r"\$burnish_[0-9a-f]{8}$")
_WHOLE_WORD = re.compile(r"(?<![\w$%.])[A-Za-z_$][\w$]*")
_WORD = re.compile(r"[A-Za-z_$%][\w$%]*")
_SET_REGISTERS = re.compile(r"\bsetmaxnreg\b")
# What the driver itself provides to kernels; anything else needs another file to link with.
_RUNTIME = frozenset({"__assertfail", "free", "malloc", "vprintf"})
_DEVICE_MEMORY = {"const", "global"}


def payload(plain: Module, tuned: Module, entry: str) -> str:
    """Write what is to be put in place of an entry.

    Args:
        plain: The module as its compiler wrote it.
        tuned: A module with a tuned entry of that name; it may come from another compiler.
        entry: The entry's name in the plain module.

    Raises:
        KernelError: The tuned entry cannot stand in the plain module; says why.
    """
    sharing = Sharing.between(plain, tuned, entry)
    known = _known(sharing)
    if any(has_placeholder(symbol.code) for symbol in tuned.reached(sharing.tuned.entry)):
        raise KernelError(f"{entry}: the PTX uses names that Burnish keeps for itself")
    function = tuned.entry(sharing.tuned.entry)
    symbols: list[Symbol] = [*sharing.lacking, function]
    parts = [*_prototypes(sharing.private), *(_code(symbol, sharing) for symbol in symbols)]
    linkage = plain.entry(entry).linkage
    parts[-1] = f".{linkage} " * bool(linkage) + _LINKAGE.sub("", parts[-1], count=1)
    text = neutral(_privately_named("\n\n".join(parts), sharing), known)
    lines = [
        f"// burnish uses {name} {_fingerprint(sharing.plain, sharing.plain.symbols[name])}"
        for name in sorted(sharing.shared)
    ]
    return "\n".join([f".version {tuned.version}", *lines, "", text, ""])


def apply_payload(plain_text: str, payload: str, entry: str) -> str:
    """Put a payload in place of an entry.

    Args:
        plain_text: A plain module; its private names may differ from those of the module that
            the payload was made for.
        payload: What `payload` wrote.
        entry: The entry's name in the plain module.

    Returns:
        The module, every character outside of the entry as it was, but for ``.version`` and,
        where debug data tell of the replaced entry, those.

    Raises:
        KernelError: The payload does not fit this module; says why.
    """
    plain = View.of(parse(plain_text), entry)
    try:
        tuned = parse(actual(payload, plain.binding), needs_entry=False)
    except KeyError as error:
        raise KernelError(f"the payload of {entry} names {error}, unknown in this PTX") from None
    _refuse_other_declarations(plain, payload)
    start, end = plain.module.entry(entry).span
    body = "\n\n".join(_statements(plain, tuned))
    before, after = plain_text[:start], plain_text[end:]
    if _debug_tells_of(plain.module, entry):
        before, after = _without_debug(plain.module, start, end)
    return _raise_version(f"{before}{body}{after}", tuned.version)


def refuses(module: Module) -> str | None:
    """Why a module cannot be tuned, or None: a debug build, or device code from elsewhere."""
    if "debug" in module.target.split(", ")[1:]:
        return "it is a debug build (.target … debug), which nothing is gained in; build without -G"
    for name, symbol in sorted(module.symbols.items()):
        reason = _elsewhere(symbol)
        if reason and module.is_used(name):
            return reason
    return None


def uses_setmaxnreg(function: Function) -> bool:
    """Whether a function moves registers between warps, so that no limit may be set."""
    return "setmaxnreg" in function.code and bool(_SET_REGISTERS.search(function.code))


def lower_version(text: str, version: str) -> str:
    """Lower ``.version`` to the newest that a compiler knows; a lower one stays."""
    found = _VERSION.search(bare(text))
    if found is None or _number(found[2]) <= _number(version):
        return text
    return text[: found.start(2)] + version + text[found.end(2) :]


def _elsewhere(symbol: Symbol) -> str | None:
    """What is missing of a symbol that another file has to provide."""
    if isinstance(symbol, Function) and not symbol.is_defined and symbol.name not in _RUNTIME:
        return f"it calls the device function {symbol.name}, which is in another file"
    if not isinstance(symbol, Variable) or symbol.linkage != "extern":
        return None
    if symbol.space not in _DEVICE_MEMORY:
        return None
    return f"it uses the device variable {symbol.name}, which is in another file"


def _raise_version(text: str, version: str) -> str:
    found = _VERSION.search(bare(text))
    if found is None or _number(found[2]) >= _number(version):
        return text
    return text[: found.start(2)] + version + text[found.end(2) :]


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _known(sharing: Sharing) -> Binding:
    """The tuned module's names for which the plain one has its own."""
    plain, tuned = sharing.plain.binding, sharing.tuned.binding
    return Binding(tuned.files[: len(plain.files)], tuned.texts[: len(plain.texts)])


def _privately_named(text: str, sharing: Sharing) -> str:
    """Give what travels names of its own; what has such a name already keeps it.

    The mark goes last and begins with the lowest character that a name may have: ptxas orders
    functions by name, and so they keep their order.
    """
    known = {symbol.name for symbol in sharing.private if not _PRIVATE.search(symbol.name)}
    if not known:
        return text
    about = neutral(canonical(text), sharing.tuned.binding)
    mark = f"$burnish_{hashlib.sha256(about.encode()).hexdigest()[:8]}"
    return _WHOLE_WORD.sub(lambda word: word[0] + mark * (word[0] in known), text)


def _prototypes(symbols: Iterable[Symbol]) -> list[str]:
    """Declarations that go first, so that the order of definitions is free."""
    functions = [symbol for symbol in symbols if isinstance(symbol, Function)]
    return [f"{_LINKAGE.sub('', tidy(function.header)).rstrip()};" for function in functions]


def _code(symbol: Symbol, sharing: Sharing) -> str:
    text = tidy(symbol.code)
    return _LINKAGE.sub("", text, count=1) if symbol in sharing.private else text


def _fingerprint(view: View, symbol: Symbol) -> str:
    return hashlib.sha256(declaration(view, symbol).encode()).hexdigest()[:16]


def _refuse_other_declarations(plain: View, payload: str) -> None:
    for name, fingerprint in _USES.findall(payload):
        symbol = plain.symbols.get(name)
        if symbol is None or _fingerprint(plain, symbol) != fingerprint:
            how = "not in this PTX" if symbol is None else "declared differently in this PTX"
            raise KernelError(f"the payload of {plain.entry} uses {name}, which is {how}")


def _statements(plain: View, tuned: Module) -> list[str]:
    """What goes in place of the entry; declarations that are there already stay out."""
    if [found.name for found in tuned.entries] != [plain.entry] or tuned.aliases or tuned.pragmas:
        raise KernelError(f"the payload of {plain.entry} does not hold that entry and its company")
    symbols: list[Function | Variable] = [*tuned.functions, *tuned.variables]
    kept = []
    for symbol in sorted(symbols, key=lambda found: found.span):
        there = plain.module.symbols.get(symbol.name)
        if there is None or symbol.name == plain.entry:
            kept.append(symbol.text)
        elif declaration(plain, symbol) != declaration(plain, there) or not _is_elsewhere(symbol):
            raise KernelError(f"{symbol.name} in the payload of {plain.entry} is there already")
    return kept


def _is_elsewhere(symbol: Function | Variable) -> bool:
    if isinstance(symbol, Function):
        return not symbol.is_defined
    return symbol.linkage == "extern"


def _debug_tells_of(module: Module, entry: str) -> bool:
    """Whether a debug section names a label of the entry, which goes away with it."""
    labels = set(_LABEL.findall(module.entry(entry).code))
    said = " ".join(module.text[slice(*span)] for span in module.sections)
    return not labels.isdisjoint(_WORD.findall(said))


def _without_debug(module: Module, start: int, end: int) -> tuple[str, str]:
    """The text before and after the entry, without debug sections and line marks."""
    pieces: dict[bool, list[str]] = {False: [], True: []}
    at = 0
    for begin, stop in [*sorted([*module.sections, (start, end)]), (len(module.text),) * 2]:
        pieces[at >= end].append(without_debug(module.text[at:begin]))
        at = stop
    return "".join(pieces[False]), "".join(pieces[True])

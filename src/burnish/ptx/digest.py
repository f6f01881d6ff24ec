"""The PTX digest of an entry: what a controls file finds a kernel by.

It covers the entry and all that it reaches (functions, variables with their initial values,
aliases), the target and what is said to the whole module. It does not see what leaves the kernel
the same kernel: comments, white space, line marks and labels that only debug data use,
``.version``, other kernels and their order, and what of private names only says where they come
from (`burnish.model.names`; also the number that a compiler gives to each function's labels).
"""

import hashlib
import re
from dataclasses import dataclass

from burnish.model.names import Binding, bind, neutral
from burnish.ptx.module import Module
from burnish.ptx.text import canonical

__all__ = ["Plain", "entry_digest", "plain_form"]

_LABEL = re.compile(r"\$L__BB\d+_(?=\d)")
_DEPOT = re.compile(r"__local_depot\d+(?![\w$])")


@dataclass(frozen=True, slots=True)
class Plain:
    """An entry with all it reaches, in the form that digests see.

    Attributes:
        text: One symbol a line, the entry first; placeholders in private names.
        binding: What the placeholders stand for in this module.
        names: The symbols' names in this module, in the same order.
    """

    text: str
    binding: Binding
    names: tuple[str, ...]


def plain_form(module: Module, entry: str) -> Plain:
    """Write an entry and all that it reaches in the form that digests see.

    Raises:
        KernelError: There is no such entry.
    """
    symbols = module.reached(module.entry(entry).name)
    text = "\n".join(canonical(symbol.code) for symbol in symbols)
    text = _DEPOT.sub("__local_depot", _LABEL.sub("$L__BB_", text))
    binding = bind(text)
    return Plain(neutral(text, binding), binding, tuple(symbol.name for symbol in symbols))


def entry_digest(module: Module, entry: str) -> str:
    """The PTX digest of an entry: ``ptx:`` and a SHA-256.

    Raises:
        KernelError: There is no such entry.
    """
    settings = [module.target, str(module.address_size), *map(canonical, module.pragmas)]
    whole = "\n".join(["burnish-ptx/1", *settings, plain_form(module, entry).text])
    return f"ptx:{hashlib.sha256(whole.encode()).hexdigest()}"

"""``burnish ptxas``: the compilers' own command lines, with a controls file."""

from collections.abc import Sequence

__all__ = ["run_compiler"]


def run_compiler(name: str, argv: Sequence[str]) -> int:
    """Run a compiler with a controls file; returns its exit code."""
    from burnish.apply.ptxas import main

    if name != "ptxas":
        raise NotImplementedError(name)
    return main(list(argv))

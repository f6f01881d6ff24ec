"""``burnish ptxas`` and ``burnish cc``: the compilers' own command lines, with a controls file."""

from collections.abc import Sequence

__all__ = ["run_compiler"]


def run_compiler(name: str, argv: Sequence[str]) -> int:
    """Run a compiler with a controls file; returns its exit code."""
    if name == "cc":
        from burnish.apply.cc import main as cc

        return cc(argv)
    from burnish.apply.ptxas import main as ptxas

    if name != "ptxas":
        raise NotImplementedError(name)
    return ptxas(argv)

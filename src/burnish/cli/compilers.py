"""``burnish ptxas``, ``nvcc`` and ``cc``: the compilers' command lines, with a controls file."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import cast

__all__ = ["run_compiler"]


def run_compiler(name: str, argv: Sequence[str]) -> int:
    """Run a compiler with a controls file; returns its exit code."""
    main = cast("Callable[[Sequence[str]], int]", import_module(f"burnish.apply.{name}").main)
    return main(argv)

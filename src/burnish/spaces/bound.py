"""A space bound to its kernel and compilers, whatever the language."""

from typing import Protocol

from burnish.model.code import Code
from burnish.model.kernel import Kernel
from burnish.model.space import Config, Space
from burnish.model.toolchain import Toolchain

__all__ = ["BoundSpace"]


class BoundSpace(Protocol):
    """What can be decided about a kernel, and what each decision tells its compiler."""

    @property
    def kernel(self) -> Kernel:
        """What is tuned."""

    @property
    def space(self) -> Space:
        """What can be decided."""

    @property
    def toolchain(self) -> Toolchain:
        """The compilers that are a choice; the plain build's first."""

    @property
    def known_bad(self) -> Code:
        """A build that must differ from the plain one, or controls do not reach the compiler."""

    def code_of(self, config: Config) -> Code:
        """What the compiler is told for a config; for the default config, the plain build."""

"""The compilers that were found on this machine."""

from dataclasses import dataclass
from pathlib import Path

from burnish.errors import ToolchainError

__all__ = ["Tool", "Toolchain"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One compiler.

    Attributes:
        kind: ``ptxas``, ``nvcc``, ``gcc``, ``clang`` …
        version: Such as ``13.5.37``.
        path: The program to start: the real one, not a wrapper or a shim of ours.
        sha256: Digest of the ELF program that runs.
        origin: Where it was found, in words: ``package nvidia-cuda-nvcc``, ``PATH`` …
    """

    kind: str
    version: str
    path: Path
    sha256: str
    origin: str

    @property
    def name(self) -> str:
        """Kind and version, as a controls file names it: ``ptxas 13.5.37``."""
        return f"{self.kind} {self.version}"


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Every compiler that was found; of each kind, the preferred one first."""

    tools: tuple[Tool, ...] = ()

    def all(self, kind: str) -> tuple[Tool, ...]:
        """Every tool of a kind, one per version, the preferred one first."""
        return tuple(tool for tool in self.tools if tool.kind == kind)

    def first(self, kind: str, version: str = "") -> Tool:
        """The preferred tool of a kind, or the one of that version.

        Raises:
            ToolchainError: None was found; the message says how to get one.
        """
        for tool in self.all(kind):
            if version in {"", tool.version}:
                return tool
        wanted = f"{kind} {version}".strip()
        found = ", ".join(tool.name for tool in self.all(kind)) or "none"
        get = f"burnish toolchain add {kind}=={version}" if version else "burnish doctor"
        raise ToolchainError(f"{wanted} was not found (found: {found}); try: {get}")

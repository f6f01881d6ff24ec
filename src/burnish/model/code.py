"""What a compiler is told to make of an entry: all that applying a result needs."""

from dataclasses import dataclass

__all__ = ["Code"]


@dataclass(frozen=True, slots=True)
class Code:
    """One way to build an entry.

    Attributes:
        compiler: Kind and version, such as ``ptxas 13.3.73``.
        options: Complete options in normal form; they replace the plain ones.
        ptx: The whole PTX module to assemble; empty where it is the plain one.
        opaque: NVIDIA's own controls file, as it is; empty where none was chosen.
    """

    compiler: str
    options: tuple[str, ...]
    ptx: str = ""
    opaque: bytes = b""

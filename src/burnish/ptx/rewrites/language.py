"""Which version of PTX a body is written in, and for which architecture."""

import re
from dataclasses import dataclass

from burnish.ptx.body import Body
from burnish.ptx.kept import once

__all__ = ["Language", "language"]

_ARCH = re.compile(r"sm_(\d+)")


@dataclass(frozen=True, slots=True)
class Language:
    """What a module says of itself; zeros where that is not known, so that nothing is new.

    Attributes:
        version: Of PTX: ``(8, 7)``.
        arch: 90 of ``sm_90a``.
    """

    version: tuple[int, int]
    arch: int

    def has(self, version: tuple[int, int], arch: int) -> bool:
        """Whether it has what came with a version of PTX and needs an architecture."""
        return self.version >= version and self.arch >= arch


@once
def language(body: Body) -> Language:
    """The language of a body, as its module declares it."""
    major, _, minor = body.version.partition(".")
    arch = _ARCH.match(body.target)
    known = (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else (0, 0)
    return Language(known, int(arch[1]) if arch else 0)

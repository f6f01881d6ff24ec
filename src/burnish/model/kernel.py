"""What is tuned."""

from dataclasses import dataclass

__all__ = ["Kernel"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel and its plain build. Frozen once captured.

    Attributes:
        name: For people: usually the file's name.
        language: ``ptx``, ``cuda`` or ``c``.
        text: The source or PTX.
        entry: The function to tune.
        arch: What the plain build compiles for, such as ``sm_90a``.
        options: Options of the plain build in normal form.
        key: ``ptx:…`` (PTX digest of the entry) or ``c:…``: what a controls file is found by.
        others: The other entries of its file, which its build makes, too.
    """

    name: str
    language: str
    text: str
    entry: str
    arch: str
    options: tuple[str, ...]
    key: str
    others: tuple[str, ...] = ()

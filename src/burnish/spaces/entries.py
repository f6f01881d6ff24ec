"""Which entry of a file is meant, and whether it can be tuned where it stands."""

from collections.abc import Sequence
from pathlib import Path

from burnish.errors import KernelError, UsageError
from burnish.model.kernel import Kernel

__all__ = ["chosen_entry", "refuse_shared"]

_MOST_LISTED = 8


def chosen_entry(wanted: str, offered: Sequence[str], path: Path) -> str:
    """The entry that is named, or the only one.

    Raises:
        UsageError: There is none of that name.
        KernelError: There are several, or none at all.
    """
    if wanted and wanted not in offered:
        names = _listed(offered) or "none that can be called from outside"
        raise UsageError(f"{path}: no entry {wanted!r}; it has: {names}")
    if not wanted and len(offered) > 1:
        raise KernelError(_shared(str(path), offered))
    if not offered:
        raise KernelError(f"{path}: no entry that can be called from outside")
    return wanted or offered[0]


def refuse_shared(kernel: Kernel) -> None:
    """Refuse a kernel whose build is that of others, too.

    A compiler's options hold for a whole file. A block that changes them is applied only where
    every entry of the file has one with the same options, which tuning one entry cannot bring.

    Raises:
        KernelError: It is.
    """
    if kernel.others:
        raise KernelError(_shared(kernel.name, sorted({kernel.entry, *kernel.others})))


def _shared(name: str, offered: Sequence[str]) -> str:
    return (
        f"{name}: {len(offered)} entries ({_listed(offered)}), and a compiler's options hold for "
        "all of them at once: put the one to tune into a file of its own"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_LISTED]) + ", …" * (len(names) > _MOST_LISTED)

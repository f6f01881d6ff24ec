"""Where a build's blocks come from: the files on its command line, else the shelf."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from burnish.acf.read import load_bytes
from burnish.acf.shelf import Found, Shelf
from burnish.apply.ledger import Ledger
from burnish.apply.request import Given
from burnish.errors import AcfError

__all__ = ["About", "offered"]


class About(Protocol):
    """Finds blocks."""

    def __call__(self, *names: str) -> Iterable[Found]:
        """Every block with one of these keys or entries, the preferred first."""


def offered(given: Sequence[Given], shelf: Path | None, ledger: Ledger) -> About | None:
    """Who knows the blocks that a build may take; None where there are none.

    Args:
        given: The files on the command line; where there are any, the shelf does not count.
        shelf: The folder to look in otherwise.
        ledger: Is told what is wrong with a file, and which of them are strict.
    """
    if not given:
        return Shelf(shelf, ledger.warnings.append).about if shelf else None
    found: list[Found] = []
    for file in given:
        found += _blocks(file, ledger)

    def about(*names: str) -> Iterable[Found]:
        wanted = set(names)
        return [one for one in found if wanted & {one.tuned.key, one.tuned.entry}]

    return about if found else None


def _blocks(file: Given, ledger: Ledger) -> list[Found]:
    if file.problem:
        ledger.fail(f"{file.name}: cannot be read: {file.problem}")
        return []
    try:
        acf = load_bytes(file.data, file.name)
    except AcfError as error:
        ledger.fail(str(error))
        return []
    path = Path(file.name)
    if acf.strict:
        ledger.demand(path)
    return [Found(path, tuned) for tuned in acf.tuned]

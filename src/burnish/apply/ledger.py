"""What a build notes about what was tuned for it: what does not fit, what must not be missed."""

from collections.abc import Iterable
from pathlib import Path

__all__ = ["Ledger"]


class Ledger:
    """Notes of one build.

    Attributes:
        warnings: What the user should know, whatever is built.

    Args:
        strict: Whether the build must fail where something that matched is not applied.
    """

    def __init__(self, *, strict: bool) -> None:
        self.warnings: list[str] = []
        self._strict = strict
        self._failures: list[str] = []
        self._demanded: set[Path] = set()  # files of which something must be applied yet

    @property
    def failure(self) -> str:
        """What matched and was not applied, on one line; empty where nothing failed."""
        more = f" (and {len(self._failures) - 1} more)" if len(self._failures) > 1 else ""
        if self._failures:
            return self._failures[0] + more
        return f"{min(self._demanded)}: none of its blocks is applied" if self._demanded else ""

    @property
    def must_fail(self) -> bool:
        """Whether the build must not go on."""
        return self.is_in_vain(())

    def fail(self, reason: str) -> None:
        """Note why something that matched is not applied."""
        self._failures.append(reason)

    def demand(self, path: Path) -> None:
        """Note a file of which one block must be applied."""
        self._demanded.add(path)

    def is_in_vain(self, paths: Iterable[Path]) -> bool:
        """Whether the build must fail although blocks of these files are applied."""
        return bool(self._demanded - set(paths)) or (self._strict and bool(self._failures))

    def applied(self, path: Path) -> None:
        """Note that a block of a file is applied."""
        self._demanded.discard(path)

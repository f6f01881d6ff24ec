"""Whether a tuned block fits a plain build, and why not."""

from collections.abc import Iterable
from dataclasses import dataclass

from burnish.acf.model import Tuned
from burnish.acf.shelf import Found

__all__ = ["Complaint", "PlainBuild", "choose_one"]


@dataclass(frozen=True, slots=True)
class PlainBuild:
    """The build as it would be without Burnish.

    Attributes:
        compiler: Kind and version.
        options: In normal form.
        arch: Such as ``sm_90a``.
        allow: Risks that the user takes.
    """

    compiler: str
    options: tuple[str, ...]
    arch: str
    allow: frozenset[str]


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a block that is for an entry, by its name and architecture, does not apply."""

    source: str
    entry: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source}: {self.entry}: {self.reason}"


def choose_one(
    found: Iterable[Found], names: tuple[str, str], plain: PlainBuild
) -> Found | Complaint | None:
    """The first block that applies to an entry, or the best reason why none does.

    Args:
        found: Blocks with the entry's key or name, the preferred first.
        names: The entry's key and its name.
        plain: The build as it would be.
    """
    key, entry = names
    complaint: tuple[int, Complaint] | None = None
    for candidate in found:
        if candidate.tuned.arch != plain.arch:
            continue
        rank, reason = _obstacle(candidate.tuned, key, plain)
        if not reason:
            return candidate
        if complaint is None or rank > complaint[0]:
            complaint = rank, Complaint(str(candidate.path), entry, reason)
    return complaint[1] if complaint else None


def _obstacle(tuned: Tuned, key: str, plain: PlainBuild) -> tuple[int, str]:
    """Why a block does not apply, with a rank: the nearer to applying, the higher."""
    if tuned.key != key:
        return 1, "the kernel is not the one that was tuned; tune it again"
    if tuned.baseline_compiler != plain.compiler:
        return 2, f"was tuned for {tuned.baseline_compiler}, and this is {plain.compiler}"
    if tuned.baseline_options != plain.options:
        options = " ".join(tuned.baseline_options) or "no options"
        here = " ".join(plain.options) or "none"
        return 3, f"was tuned for builds with {options}, and this one has {here}"
    if tuned.shapes or tuned.launch:
        return 4, "is for certain launches, which a build does not know"
    if tuned.disjoint and "conditional" not in plain.allow:
        pairs = ", ".join(f"{first} and {second}" for first, second in tuned.disjoint)
        return 5, f"needs --allow conditional: the buffers of parameters {pairs} do not overlap"
    return 6, ""

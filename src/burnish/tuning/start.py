"""Controls files to start from: what they decided, as configs of the space that is searched."""

from collections.abc import Sequence
from pathlib import Path

from burnish.acf.model import Tuned
from burnish.acf.read import load
from burnish.errors import SpaceError, UsageError
from burnish.model.control import Value
from burnish.model.space import Config, Space

__all__ = ["starting_configs"]


def starting_configs(files: Sequence[Path], entry: str, space: Space) -> tuple[Config, ...]:
    """A config for each block, as far as its decisions can be made here.

    The kernel may have changed since: a config is a guess, and is checked as any other.

    Args:
        files: The controls files.
        entry: The entry that is tuned. Where a file has a block for it, only those count.
        space: What is searched.

    Raises:
        UsageError: A file is missing, or has no decision that can be made here.
        AcfError: A file cannot be read.
    """
    return tuple(config for file in files for config in _configs_of(file, entry, space))


def _configs_of(file: Path, entry: str, space: Space) -> list[Config]:
    if not file.is_file():
        what = "is no regular file" if file.exists() else "no such file"
        raise UsageError(f"--start-from {file}: {what}; name an ACF")
    blocks = load(file).tuned
    named = [block for block in blocks if block.entry == entry]
    configs = [space.config(_decided(block, space)) for block in named or blocks]
    able = [config for config in configs if config != space.default and space.allows(config)]
    if not able:
        raise UsageError(
            f"--start-from {file}: none of its decisions can be made here; see burnish controls"
        )
    return able


def _decided(block: Tuned, space: Space) -> dict[str, Value]:
    decided: dict[str, Value] = {}
    for name, value in block.controls.items():
        try:
            space[name].domain.index(value)
        except SpaceError:  # of another version, layer or risk
            continue
        decided[name] = value
    return decided

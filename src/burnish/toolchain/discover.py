"""Find the compilers of this machine, and what they know."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from burnish.errors import ToolchainError
from burnish.model.toolchain import Tool, Toolchain
from burnish.settings import Settings
from burnish.toolchain import probe
from burnish.toolchain.index import Index, Known
from burnish.toolchain.places import KINDS, Place, groups
from burnish.toolchain.process import run

__all__ = ["architectures", "find", "find_one", "identify", "ptxas_options"]

_ARCH = r"'(sm_\w+)'"
_OPTION = r"(?m)^--([\w-]+)"


def find(settings: Settings, kinds: Sequence[str] = KINDS) -> Toolchain:
    """Find every compiler: of each kind and version one, the preferred first.

    Preferred are the environment's packages, then added ones, CUDA_HOME, PATH and Triton's own;
    BURNISH_PTXAS, where it is set, is before all of them.
    """
    index = Index(_index_path(settings))
    tools: dict[tuple[str, str], Tool] = {}
    for tool in _tools(settings, kinds, index):
        tools.setdefault((tool.kind, tool.version), tool)
    index.save()
    order = {kind: place for place, kind in enumerate(kinds)}
    return Toolchain(tuple(sorted(tools.values(), key=lambda tool: order[tool.kind])))


def find_one(settings: Settings, kind: str, version: str = "") -> Tool | None:
    """Find the preferred compiler of a kind, or the one of a version, without a look at others."""
    index = Index(_index_path(settings))
    tools = _tools(settings, (kind,), index)
    found = next((tool for tool in tools if version in {"", tool.version}), None)
    index.save()
    return found


def identify(settings: Settings, place: Place) -> Tool | None:
    """Find out what a file is; None where it is no such compiler."""
    index = Index(_index_path(settings))
    tool = _tool(place, index)
    index.save()
    return tool


@cache
def ptxas_options(tool: Tool) -> frozenset[str]:
    """The long names of the options that a ptxas lists, without dashes."""
    return frozenset(re.findall(_OPTION, _help(tool)))


@cache
def architectures(tool: Tool) -> frozenset[str]:
    """The real architectures, ``sm_…``, that a ptxas or nvcc compiles for."""
    return frozenset(re.findall(_ARCH, _help(tool)))


@cache
def _help(tool: Tool) -> str:
    outcome = run([str(tool.path), "--help"])
    if not outcome.ok:
        raise ToolchainError(
            f"{tool.name} ({tool.path}) does not answer --help; "
            "reinstall it, or remove it from where it was found"
        )
    return outcome.stdout.decode(errors="replace")


def _index_path(settings: Settings) -> Path:
    return settings.cache / "programs.tsv"


def _tools(settings: Settings, kinds: Sequence[str], index: Index) -> Iterator[Tool]:
    for group in groups(settings, kinds):
        tools = [tool for place in group if (tool := _tool(place, index))]
        yield from sorted(tools, key=_newness, reverse=True)


def _tool(place: Place, index: Index) -> Tool | None:
    known = index.get(place.kind, place.path) or _look(place, index)
    if known is None or not known.version:
        return None
    return Tool(place.kind, known.version, Path(known.path), known.sha256, place.origin)


def _look(place: Place, index: Index) -> Known | None:
    """Find out what a file is, and remember it where that cannot change behind its back."""
    program = probe.follow(place.path, place.kind)
    if program is None:
        return None
    known = index.get(place.kind, program.path) if program.image else None
    if known is None:
        version = probe.version(program, place.kind)
        known = Known(version, probe.digest(program), str(program.path))
    if program.image:
        index.put(place.kind, program.path, known)
    if program.image and place.path.samefile(program.path):
        index.put(place.kind, place.path, known)
    return known


def _newness(tool: Tool) -> list[int]:
    return [int(part) for part in tool.version.split(".")]

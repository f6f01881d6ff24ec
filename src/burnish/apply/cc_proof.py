"""Whether tuned options fit a C source, and give the very code that was tuned."""

import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.acf.model import TunedCode
from burnish.acf.shelf import Found
from burnish.apply.cc_line import Build, Source
from burnish.apply.fit import Complaint, PlainBuild, choose_one
from burnish.apply.offer import About
from burnish.errors import BurnishError, KernelError, ToolchainError
from burnish.model.toolchain import Tool
from burnish.settings import Settings
from burnish.toolchain.discover import find_one
from burnish.toolchain.gcc import Gcc, source_key
from burnish.toolchain.gcc_macros import held
from burnish.toolchain.gcc_options import is_tuning_option
from burnish.toolchain.process import Limits
from burnish.toolchain.ptxas import Refusal

__all__ = ["LIMITS", "Proof", "Prover"]

LIMITS = Limits(wall_s=3600.0, output_bytes=64 << 20, file_bytes=1 << 50)

_CALLABLE = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_MOST_NAMES = 4


@dataclass(frozen=True, slots=True)
class Proof:
    """A source that may be built with tuned options.

    Attributes:
        source: The file.
        tool: The gcc to call.
        options: What replaces the plain options for machine code.
        paths: The controls files that say so.
    """

    source: Source
    tool: Tool
    options: tuple[str, ...]
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Prover:
    """Proves the sources of one build.

    Attributes:
        build: The command line.
        real: The gcc of the plain build.
        settings: The environment's say.
        allow: Risks that the user takes.
    """

    build: Build
    real: Tool
    settings: Settings
    allow: frozenset[str]

    def prove(self, source: Source, about: About) -> Proof | Complaint | None:
        """Find the blocks for a source, and make the object that was measured, with its digest.

        None where no block is for it, or where gcc itself has something to say about it.

        Raises:
            ToolchainError: Temporary files cannot be written.
        """
        text = self._text(source, self.real, self.build.line.options)
        if text is None:
            return None
        picks = self._picks(text, about)
        if isinstance(picks, Complaint):
            return picks
        if not picks:
            return None
        try:
            return self._made(source, text, picks)
        except BurnishError as error:
            entry, found = next(iter(picks.items()))
            return Complaint(str(found.path), entry, str(error))

    def reads(self, source: Source) -> bool:
        """Whether gcc takes a source; else what it says of it is all there is to say."""
        return self._text(source, self.real, self.build.line.options) is not None

    def _picks(self, text: str, about: About) -> dict[str, Found] | Complaint:
        """Entry to the block for it, or why there is none for one of the entries."""
        blocks: dict[str, list[Found]] = {}
        for found in about(*set(_CALLABLE.findall(text))):
            if found.tuned.key.startswith("c:"):
                blocks.setdefault(found.tuned.entry, []).append(found)
        plain = PlainBuild(self.real.name, self.build.line.options, platform.machine(), self.allow)
        picks: dict[str, Found] = {}
        complaints: list[Complaint] = []
        for entry, choice in blocks.items():
            chosen = choose_one(choice, (source_key(text, entry), entry), plain)
            if isinstance(chosen, Found):
                picks[entry] = chosen
            elif chosen is not None:
                complaints.append(chosen)
        offered = self._offered(text) if complaints else frozenset[str]()
        return next((one for one in complaints if one.entry in offered), picks)

    def _offered(self, text: str) -> frozenset[str]:
        """The functions that a source defines; others are only called there."""
        compiled = self._gcc(self.real).compile(text, self.build.line.options)
        return frozenset() if isinstance(compiled, Refusal) else frozenset(compiled.functions)

    def _made(self, source: Source, text: str, picks: Mapping[str, Found]) -> Proof:
        """Make what was measured, and compare.

        Raises:
            BurnishError: It does not fit; says why.
        """
        code, *others = [found.tuned.code for found in picks.values()]
        if any(_way(other) != _way(code) for other in others):
            raise ToolchainError("another function of the file was tuned to other options")
        self._refuse_odd(code)
        tool = self._tool(code.compiler)
        compiled = self._gcc(tool).compile(text, code.options)
        if isinstance(compiled, Refusal):
            raise ToolchainError(f"{tool.name} refuses the tuned options: {compiled.message}")
        if any(one.tuned.code.binary_sha256 not in {"", compiled.digest} for one in picks.values()):
            raise ToolchainError("other code came out than was tuned")
        bystanders = [name for name in compiled.functions if name not in picks]
        if bystanders and _way(code) != (self.real.name, self.build.line.options):
            listed = ", ".join(bystanders[:_MOST_NAMES]) + ", …" * (len(bystanders) > _MOST_NAMES)
            raise ToolchainError(f"would change functions that were not tuned, too: {listed}")
        kept = self._kept(source, text, tool, code.options)
        paths = tuple(found.path for found in picks.values())
        return Proof(source, tool, (*kept, *code.options), paths)

    def _refuse_odd(self, code: TunedCode) -> None:
        if code.ptx or code.opaque:
            raise ToolchainError("holds what only ptxas understands")
        known = set(self.build.line.options)
        for option in code.options:
            if option not in known and not is_tuning_option(option):
                raise ToolchainError(f"{option} does more than decide about machine code")

    def _tool(self, name: str) -> Tool:
        if name == self.real.name:
            return self.real
        kind, _, version = name.partition(" ")
        found = find_one(self.settings, kind, version) if kind == "gcc" else None
        if found is None:
            raise ToolchainError(f"{name} is not installed")
        return found

    def _kept(
        self, source: Source, text: str, tool: Tool, options: Sequence[str]
    ) -> tuple[str, ...]:
        """Words under which the source says with tuned options what it says in the plain build."""
        if self._text(source, tool, options) == text:
            return ()
        kept = held(tool, self.build.line.options, options)
        if self._text(source, tool, (*kept, *options)) != text:
            raise ToolchainError("the source says something else under the tuned options")
        return kept

    def _text(self, source: Source, tool: Tool, options: Sequence[str]) -> str | None:
        """What the compiler proper gets to see; None where gcc refuses the source."""
        said = (*options, *self.build.text_options)
        try:
            return self._gcc(tool).preprocess(Path(source.name), said)
        except KernelError:
            return None

    def _gcc(self, tool: Tool) -> Gcc:
        return Gcc(tool, self.settings.temporary, LIMITS)


def _way(code: TunedCode) -> tuple[str, tuple[str, ...]]:
    return code.compiler, code.options

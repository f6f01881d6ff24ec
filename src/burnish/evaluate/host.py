"""Configs of a C kernel become shared libraries."""

import time
from dataclasses import dataclass, field, replace

from burnish.evaluate.compiled import Compiled, demand_of
from burnish.model.binary import Binary
from burnish.model.code import Code
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status
from burnish.spaces.host import HostSpace
from burnish.toolchain.gcc import Gcc
from burnish.toolchain.ptxas import Refusal

__all__ = ["HostCompiler"]


@dataclass(frozen=True)
class HostCompiler:
    """Compiles configs of a C kernel. Safe to call from many threads.

    An object whose code is known is not linked again: the link costs as much as the compile.
    """

    bound: HostSpace
    gcc: Gcc
    _linked: dict[str, bytes] = field(default_factory=dict, compare=False)

    def within(self, wall_s: float) -> "HostCompiler":
        """The same compiler, with that much time for one build."""
        return replace(self, gcc=self.gcc.within(wall_s))

    def compile(self, config: Config) -> Compiled:
        """Build a config; a compiler's refusal is a result."""
        return self.build(config, self.bound.code_of(config))

    def build(self, config: Config, code: Code) -> Compiled:
        """Build what gcc is told, on behalf of a config."""
        started = time.perf_counter()
        compiled = self.gcc.compile(self.bound.kernel.text, code.options)
        if isinstance(compiled, Refusal):
            return _failed(config, compiled, started)
        image = self._linked.get(compiled.digest) or self.gcc.link(compiled, code.options)
        if isinstance(image, Refusal):
            return _failed(config, image, started)
        self._linked[compiled.digest] = image
        figures = {
            "compile-time": compiled.cpu_ms,
            "instructions": float(compiled.facts.instructions),
            "code-size": float(compiled.facts.code_bytes),
        }
        return Compiled(
            config,
            Status.OK,
            Binary(compiled.digest, compiled.facts, image),
            FrozenMap({name: figure for name, figure in figures.items() if figure}),
            demand=demand_of(self.bound.space, config),
            seconds=_since(started),
        )


def _failed(config: Config, refusal: Refusal, started: float) -> Compiled:
    return Compiled(config, refusal.status, message=refusal.message, seconds=_since(started))


def _since(started: float) -> FrozenMap[float]:
    return FrozenMap({"compile": time.perf_counter() - started})

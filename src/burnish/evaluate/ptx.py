"""Configs of a PTX kernel become cubins."""

import time
from dataclasses import dataclass, replace

from burnish.cubin.digest import binary_digest
from burnish.cubin.facts import facts
from burnish.errors import KernelError
from burnish.evaluate.compiled import Compiled, demand_of
from burnish.model.binary import Binary
from burnish.model.code import Code
from burnish.model.frozen import FrozenMap
from burnish.model.space import Config
from burnish.model.trial import Status
from burnish.spaces.ptx import PtxSpace
from burnish.toolchain.pipeline import Pipeline
from burnish.toolchain.ptxas import Refusal

__all__ = ["PtxCompiler"]


@dataclass(frozen=True)
class PtxCompiler:
    """Compiles configs of a PTX kernel. Safe to call from many threads."""

    bound: PtxSpace
    pipeline: Pipeline

    def within(self, wall_s: float) -> "PtxCompiler":
        """The same compiler, with that much time for one build."""
        limits = replace(self.pipeline.limits, wall_s=wall_s)
        return replace(self, pipeline=replace(self.pipeline, limits=limits))

    def compile(self, config: Config) -> Compiled:
        """Build a config; a compiler's refusal is a result."""
        return self.build(config, self.bound.code_of(config))

    def build(self, config: Config, code: Code) -> Compiled:
        """Build what a compiler is told, on behalf of a config."""
        started = time.perf_counter()
        kernel = self.bound.kernel
        kind, _, version = code.compiler.partition(" ")
        tool = self.bound.toolchain.first(kind, version)
        outcome = self.pipeline.assemble(tool, code.ptx or kernel.text, code, kernel.arch)
        seconds = FrozenMap({"compile": time.perf_counter() - started})
        if isinstance(outcome, Refusal):
            return Compiled(config, outcome.status, message=outcome.message, seconds=seconds)
        try:
            spill_bytes = outcome.spills.get(kernel.entry, 0)
            binary = Binary(
                digest=binary_digest(outcome.cubin, kernel.entry),
                facts=facts(outcome.cubin, kernel.entry, spill_bytes),
                image=outcome.cubin,
            )
        except KernelError as error:  # the compiler ended well, yet its output is no cubin
            return Compiled(config, Status.COMPILE_CRASH, message=str(error), seconds=seconds)
        return Compiled(
            config,
            Status.OK,
            binary,
            _figures(binary, outcome.cpu_ms),
            advisories=outcome.advisories,
            demand=demand_of(self.bound.space, config),
            seconds=seconds,
        )


def _figures(binary: Binary, cpu_ms: float) -> FrozenMap[float]:
    return FrozenMap(
        {
            "compile-time": cpu_ms,
            "registers": float(binary.facts.registers),
            "spills": float(binary.facts.spill_bytes),
            "instructions": float(binary.facts.instructions),
            "code-size": float(binary.facts.code_bytes),
        }
    )

"""PTX to machine code through the cache: the same work is never done twice."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from burnish.model.code import Code
from burnish.model.toolchain import Tool
from burnish.model.trial import Status
from burnish.toolchain.cache import CompileCache
from burnish.toolchain.process import Limits
from burnish.toolchain.ptxas import Assembled, Refusal, assemble

__all__ = ["Pipeline"]


@dataclass(frozen=True)
class Pipeline:
    """Assembles PTX, remembering what it saw.

    Attributes:
        cache: Where results are remembered; None to remember nothing.
        folder: For temporary files; must exist.
        limits: Of one compiler run.
    """

    cache: CompileCache | None
    folder: Path
    limits: Limits

    def assemble(self, tool: Tool, ptx: str, code: Code, arch: str) -> Assembled | Refusal:
        """Assemble PTX, or say why not. Safe to call from many threads."""
        key = _key(tool, ptx, code, arch)
        known = self.cache.get(key) if self.cache else None
        if known is not None:
            return _decode(known)
        outcome = assemble(tool, ptx, code, arch, folder=self.folder, limits=self.limits)
        if self.cache and _is_lasting(outcome):
            self.cache.put(key, _encode(outcome))
        return outcome


def _key(tool: Tool, ptx: str, code: Code, arch: str) -> str:
    hasher = hashlib.sha256()
    for part in (tool.sha256, arch, *code.options):
        hasher.update(part.encode() + b"\0")
    hasher.update(hashlib.sha256(code.opaque).digest())
    hasher.update(ptx.encode())
    return hasher.hexdigest()


def _is_lasting(outcome: Assembled | Refusal) -> bool:
    """A time-out or a crash may be the machine's fault: it is not remembered."""
    return isinstance(outcome, Assembled) or outcome.status is Status.REFUSED


def _encode(outcome: Assembled | Refusal) -> bytes:
    if isinstance(outcome, Refusal):
        return json.dumps({"refused": outcome.message}).encode() + b"\n"
    head = {
        "spills": dict(outcome.spills),
        "messages": outcome.messages,
        "advisories": outcome.advisories,
        "cpu_ms": outcome.cpu_ms,
        "wall_ms": outcome.wall_ms,
    }
    return json.dumps(head).encode() + b"\n" + outcome.cubin


def _decode(known: bytes) -> Assembled | Refusal:
    head, _, cubin = known.partition(b"\n")
    facts = json.loads(head)
    if "refused" in facts:
        return Refusal(Status.REFUSED, facts["refused"])
    return Assembled(
        cubin=cubin,
        spills=facts["spills"],
        messages=facts["messages"],
        advisories=tuple(facts["advisories"]),
        cpu_ms=facts["cpu_ms"],
        wall_ms=facts["wall_ms"],
    )

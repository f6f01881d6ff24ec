"""``burnish show``: what an ACF decides, why, and what it changes; or what a cubin holds."""

from difflib import unified_diff
from pathlib import Path
from typing import Annotated

import typer

from burnish.acf.model import Tuned
from burnish.acf.read import load
from burnish.cli.options import Json
from burnish.cli.screen import OUT, write_json
from burnish.cubin.digest import binary_digest
from burnish.cubin.facts import entries, facts
from burnish.errors import KernelError, UsageError
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse
from burnish.ptx.replace import apply_payload
from burnish.spaces.kernel import read_text

__all__ = ["show"]

_ELF = b"\x7fELF"


def show(
    file: Annotated[Path, typer.Argument(help="An ACF, or a cubin.")],
    against: Annotated[Path | None, typer.Option(help="The plain PTX, for the diff.")] = None,
    json: Json = None,
) -> int:
    """What FILE decides, on what evidence, and the diff of the PTX."""
    if not file.is_file():
        what = "is no regular file" if file.exists() else "no such file"
        raise UsageError(f"{file}: {what}; name an ACF or a cubin")
    if file.read_bytes()[:4] == _ELF:
        return _show_cubin(file, json)
    acf = load(file)
    if str(json) != "-":
        for block in acf.tuned:
            _print_block(block)
            if against is not None:
                _print_diff(block, against)
    write_json(json, {"tuned": [_row(block) for block in acf.tuned], "strict": acf.strict})
    return 0


def _print_block(block: Tuned) -> None:
    OUT.print(f"{block.entry} for {block.arch}, key {block.key[:20]}…", style="bold")
    plain = " ".join(block.baseline_options) or "no options"
    OUT.print(f"  plain build: {block.baseline_compiler}, {plain}")
    tuned = " ".join(block.code.options) or "no options"
    OUT.print(f"  tuned build: {block.code.compiler}, {tuned}")
    if block.code.ptx:
        OUT.print(f"  with a PTX of its own ({len(block.code.ptx.splitlines())} lines)")
    if block.code.opaque:
        OUT.print(f"  with an opaque controls file of NVIDIA's ({len(block.code.opaque)} bytes)")
    for first, second in block.disjoint:
        OUT.print(f"  requires: parameters {first} and {second} do not overlap")
    for name, value in block.controls.items():
        OUT.print(f"  {name} = {value}")
    _print_evidence(block)


def _print_evidence(block: Tuned) -> None:
    evidence = block.evidence
    if evidence is None:
        OUT.print("  no evidence: a blob handed to an objective")
        return
    line = f"  {evidence.verdict}: {evidence.metric} {evidence.baseline:g} → {evidence.tuned:g}"
    if evidence.ratio is not None and evidence.interval is not None:
        low, high = evidence.interval
        line += f", ratio {evidence.ratio:.4f} [{low:.4f}, {high:.4f}]"
    OUT.print(line)
    where = evidence.device or "not run on a device"
    OUT.print(f"  {where}; {evidence.date}; study {evidence.study}; burnish {evidence.burnish}")


def _print_diff(block: Tuned, against: Path) -> None:
    text = read_text(against)
    module = parse(text)
    if block.entry not in {entry.name for entry in module.entries}:
        raise UsageError(f"{against}: no entry {block.entry!r}; the ACF is of another kernel")
    if entry_digest(module, block.entry) != block.key:
        OUT.print(f"  {against} is another PTX than the one that was tuned: builds stay plain")
        return
    if not block.code.ptx:
        OUT.print("  the PTX stays as it is")
        return
    tuned = apply_payload(text, block.code.ptx, block.entry)
    for line in unified_diff(text.splitlines(), tuned.splitlines(), "plain", "tuned", lineterm=""):
        OUT.print(line)


def _show_cubin(file: Path, json: Path | None) -> int:
    data = file.read_bytes()
    try:
        rows = _rows_of(data)
    except KernelError as error:
        raise KernelError(f"{file}: {error}") from None
    if not rows:
        raise KernelError(f"{file}: holds no code for a GPU; name an ACF or a cubin")
    if str(json) != "-":
        for row in rows:
            for name, value in row.items():
                OUT.print(f"{name.replace('_', ' '):<14}{value}")
    write_json(json, {"entries": rows})
    return 0


def _rows_of(data: bytes) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for entry in entries(data):
        found = facts(data, entry, 0)
        rows.append(
            {
                "entry": entry,
                "digest": binary_digest(data, entry),
                "registers": found.registers,
                "stack_bytes": found.stack_bytes,
                "shared_bytes": found.shared_bytes,
                "instructions": found.instructions,
                "code_bytes": found.code_bytes,
            }
        )
    return rows


def _row(block: Tuned) -> dict[str, object]:
    evidence = block.evidence
    return {
        "key": block.key,
        "entry": block.entry,
        "arch": block.arch,
        "baseline_compiler": block.baseline_compiler,
        "baseline_options": list(block.baseline_options),
        "compiler": block.code.compiler,
        "options": list(block.code.options),
        "binary_sha256": block.code.binary_sha256,
        "controls": dict(block.controls),
        "verdict": evidence.verdict.value if evidence else None,
        "metric": evidence.metric if evidence else None,
        "baseline": evidence.baseline if evidence else None,
        "tuned": evidence.tuned if evidence else None,
        "ratio": evidence.ratio if evidence else None,
        "interval": list(evidence.interval) if evidence and evidence.interval else None,
    }

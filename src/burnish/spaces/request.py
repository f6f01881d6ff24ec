"""What the user asks of a space: layers, risks and files."""

from dataclasses import dataclass
from pathlib import Path

from burnish.errors import UsageError
from burnish.model.control import Choice, Control, Layer, Risk

__all__ = ["Request", "within_risk"]

_MOST_OPAQUE_BYTES = 1 << 20


@dataclass(frozen=True)
class Request:
    """Which controls the user wants.

    Attributes:
        allow: Risks taken beside `Risk.EXACT`.
        layers: Layers to search; None for all that apply.
        opaque: NVIDIA's own controls files by name, given by the user.
    """

    allow: frozenset[Risk] = frozenset()
    layers: frozenset[Layer] | None = None
    opaque: tuple[tuple[str, bytes], ...] = ()

    def wants(self, layer: Layer) -> bool:
        """Whether controls of a layer are wanted."""
        return self.layers is None or layer in self.layers

    def allows(self, risk: Risk) -> bool:
        """Whether a candidate of that risk may be tried."""
        return risk is Risk.EXACT or risk in self.allow

    @classmethod
    def opaque_in(cls, folder: Path) -> tuple[tuple[str, bytes], ...]:
        """Read the ``*.acf`` files of a folder as opaque controls files.

        Raises:
            UsageError: The folder is missing, empty or holds files that are too large.
        """
        files = sorted(folder.glob("*.acf")) if folder.is_dir() else []
        if not files:
            raise UsageError(f"--opaque {folder}: no *.acf file there")
        for file in files:
            if not file.is_file():
                raise UsageError(f"--opaque {file}: is no regular file")
            if file.stat().st_size > _MOST_OPAQUE_BYTES:
                raise UsageError(f"--opaque {file}: larger than 1 MiB, so no controls file")
        return tuple((file.name, file.read_bytes()) for file in files)


def within_risk(control: Control, request: Request) -> Control | None:
    """The control with the values that the user's risks allow; None where no choice is left."""
    size = control.domain.size
    values = [control.domain.at(number) for number in range(size)]
    kept = [
        value
        for value in values
        if value == control.default or request.allows(control.risk_of(value))
    ]
    if len(kept) < 2:  # noqa: PLR2004 - one value is no decision
        return None
    if len(kept) == size:
        return control
    usual = sum(1 for value in values[: control.domain.usual] if value in kept)
    return Control(
        name=control.name,
        layer=control.layer,
        domain=Choice(tuple(kept), usual, control.domain.ordered),
        default=control.default,
        risk=control.risk,
        meaning=control.meaning,
        source=control.source,
        option=control.option,
        riskier=control.riskier,
    )

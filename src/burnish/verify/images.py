"""The whole images of a workload's buffers before a launch."""

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.bundle.dtypes import DTYPES, Array
from burnish.bundle.fills import parse_fill
from burnish.bundle.layout import is_dense, overlaps, roots
from burnish.devices.port import Image
from burnish.model.workload import Buffer, Workload
from burnish.verify.cases import Case
from burnish.verify.guard import Poison, blank, data, framed, places
from burnish.verify.inputs import fill_memory

__all__ = ["Album", "Images"]


@dataclass(frozen=True, slots=True)
class Images:
    """What every buffer holds before a launch.

    Attributes:
        case: What the contents were made from.
        before: Name of the root to its image.
        poison: Name of the root to the pattern in its guard zones and where nothing is filled.
    """

    case: Case
    before: Mapping[str, Image]
    poison: Mapping[str, Poison]


class Album:
    """Makes the images of one workload; those that are the same in all cases only once."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.places = places(workload)
        self._shared: dict[tuple[str, Poison], Image] = {}

    @property
    def case_bytes(self) -> int:
        """Memory that each further case needs, beside what all cases share."""
        return sum(
            self.places[root.name].total_bytes
            for root in roots(self.workload)
            if not _is_shared(root)
        )

    def make(self, case: Case, poison: Poison) -> Images:
        """The images of a case."""
        before = {root.name: self._image(root, case, poison) for root in roots(self.workload)}
        return Images(case, before, dict.fromkeys(before, poison))

    def other(self, images: Images) -> Images:
        """The same contents, with the other pattern in the memory that nobody filled."""
        before, poison = dict(images.before), dict(images.poison)
        for root in roots(self.workload):
            if not root.fill:
                poison[root.name] = poison[root.name].other
                before[root.name] = self._image(root, images.case, poison[root.name])
        return Images(images.case, before, poison)

    def contents(self, images: Images) -> Mapping[str, Array]:
        """The memory of every buffer that was filled, as stored elements."""
        return {
            root.name: data(images.before[root.name], self.places[root.name]).view(
                DTYPES[root.dtype].stored
            )
            for root in roots(self.workload)
            if root.fill
        }

    def _image(self, root: Buffer, case: Case, poison: Poison) -> Image:
        shared = self._shared.get((root.name, poison))
        if shared is not None:
            return shared
        make = framed if root.fill and (is_dense(root) or overlaps(root)) else blank
        image = make(self.places[root.name], poison)
        if root.fill:
            memory = data(image, self.places[root.name]).view(DTYPES[root.dtype].stored)
            fill_memory(memory, root, self.workload.name, case)
        image.flags.writeable = False
        if _is_shared(root):
            self._shared[root.name, poison] = image
        return image


def _is_shared(root: Buffer) -> bool:
    return not root.fill or not parse_fill(root.fill).is_seeded

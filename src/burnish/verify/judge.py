"""Judges what a launch left in the buffers that it may write."""

from dataclasses import dataclass

from burnish.devices.port import Image
from burnish.model.control import Risk
from burnish.model.trial import Status
from burnish.verify.answers import is_scratch, part_of, untouched
from burnish.verify.compare import Mismatch, bits
from burnish.verify.expected import Expected
from burnish.verify.guard import breach
from burnish.verify.images import Album
from burnish.verify.regions import regions
from burnish.verify.rounding import judge
from burnish.verify.yardsticks import Yardsticks

__all__ = ["Finding", "Judge"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The end of a check.

    Attributes:
        status: OK, WRONG or UNSTABLE.
        message: What is wrong; or, where nothing is, what was demanded and met.
    """

    status: Status
    message: str

    @property
    def is_right(self) -> bool:
        """Whether the candidate passed."""
        return self.status is Status.OK


class Judge:
    """Knows the regions of one workload and what is demanded in each."""

    def __init__(self, album: Album, yardsticks: Yardsticks) -> None:
        self._album = album
        self._yardsticks = yardsticks
        self._regions = regions(album.workload)

    def fault(self, expected: Expected, name: str, image: Image, demand: Risk) -> str:
        """What is wrong with the image of a written root; empty where nothing is.

        Args:
            expected: The plain kernel's answer.
            name: The root.
            image: What the candidate left in it, guard zones included.
            demand: Same bits, or the rule for rounding.
        """
        why = breach(name, image, self._album.places[name], expected.images.poison[name])
        if why:
            return why
        here = {name: image}
        for region in self._regions:
            if region.root != name or is_scratch(region):
                continue
            actual = part_of(self._album, here, region).view(region.kind.stored)
            wanted = part_of(self._album, expected.after, region).view(region.kind.stored)
            mismatch = bits(actual, wanted, region)
            if mismatch is None:
                continue
            is_judged = region.kind.kind == "float" or region.buffer.tolerance is not None
            if not is_judged or (demand is not Risk.ROUNDING and expected.is_repeatable):
                return f"{mismatch}{self._unwritten(expected, here, mismatch)}"
            why = judge(actual, wanted, region, self._yardsticks.of(expected, region))
            if why:
                return why
        return ""

    def ready(self, expected: Expected, demand: Risk) -> bool:
        """Do what must be done before an answer can be judged.

        Returns:
            Whether the plain kernel was launched: other contents are in its session now.
        """
        if demand is Risk.ROUNDING or not expected.is_repeatable:
            return self._yardsticks.ready(expected)
        return False

    def demanded(self, expected: Expected, demand: Risk) -> str:
        """What was demanded, for people."""
        if expected.is_repeatable and demand is not Risk.ROUNDING:
            return "same bits as the plain kernel"
        note = "" if expected.is_repeatable else "; the plain kernel is not repeatable itself"
        return f"same bits, or within {self._yardsticks.words(expected)}{note}"

    def _unwritten(self, expected: Expected, here: dict[str, Image], mismatch: Mismatch) -> str:
        """A remark where the elements that differ still show what lay there before."""
        for region in self._regions:
            if region.root in here and region.buffer.name == mismatch.name:
                actual = part_of(self._album, here, region)
                wanted = part_of(self._album, expected.after, region)
                idle = untouched(here, expected.images, region, self._album)
                if bool(idle[actual != wanted].all()):
                    return " (never written)"
        return ""

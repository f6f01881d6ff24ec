"""A session as a test stand: set images, launch, compare; on the device where it can."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

from burnish.devices.port import Image, Program, Resident, Session
from burnish.verify.compare import same

__all__ = ["Stand"]


class Stand:
    """One workload's session, and what it keeps on the device.

    Images are known by identity: they must not change after they were first given.

    Attributes:
        session: The session.
        watched: Entered for each launch.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.watched: Callable[[], AbstractContextManager[object]] = nullcontext
        self._resident = session if isinstance(session, Resident) else None
        self._held: dict[tuple[str, int], tuple[Image, int | None]] = {}

    def set(self, images: Mapping[str, Image], *, keep: bool) -> None:
        """Set every buffer.

        Args:
            images: Name of the root to its image.
            keep: Whether they will be needed again.
        """
        sent: dict[str, Image] = {}
        for name, image in images.items():
            held = self._hold(name, image, keep=keep)
            if held is None or self._resident is None:
                sent[name] = image
            else:
                self._resident.put(name, held)
        if sent:
            self.session.upload(sent)

    def run(self, program: Program) -> None:
        """Launch once on what was set."""
        with self.watched():
            self.session.launch(program)

    def rerun(self, program: Program) -> None:
        """Launch once more, on what was set before."""
        self.session.restore()
        with self.watched():
            self.session.launch(program)

    def image(self, name: str) -> Image:
        """A copy of a buffer's image."""
        return self.session.download(name)

    def grab(self, name: str) -> Image:
        """A copy of a buffer's image, which is kept on the device, too, where there is room."""
        image = self.session.download(name)
        if self._resident is not None:
            self._held[name, id(image)] = image, self._resident.snapshot(name)
        return image

    def drop(self, images: Mapping[str, Image]) -> None:
        """Give back what is kept of images that will not be needed again."""
        for name, image in images.items():
            _, held = self._held.pop((name, id(image)), (image, None))
            if held is not None and self._resident is not None:
                self._resident.release(held)

    def holds(self, name: str, image: Image, *, keep: bool) -> bool:
        """Whether a buffer holds exactly that image, guard zones included."""
        held = self._hold(name, image, keep=keep)
        if held is None or self._resident is None:
            return same(self.session.download(name), image)
        return self._resident.differing(name, held) == 0

    def forget(self) -> None:
        """Give back what is kept on the device."""
        for _, held in self._held.values():
            if held is not None and self._resident is not None:
                self._resident.release(held)
        self._held.clear()

    def _hold(self, name: str, image: Image, *, keep: bool) -> int | None:
        if self._resident is None:
            return None
        key = name, id(image)
        if key not in self._held:
            if not keep:
                return None
            # The image itself is remembered, too: so its identity is not given to another.
            self._held[key] = image, self._resident.keep(name, image)
        return self._held[key][1]

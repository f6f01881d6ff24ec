"""One workload on the card: its buffers, its launches, its times."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count

from burnish.devices.cuda_arguments import packed, require_match
from burnish.devices.cuda_buffers import Buffers
from burnish.devices.cuda_card import Card
from burnish.devices.cuda_globals import Globals
from burnish.devices.cuda_launch import Launch, Shape
from burnish.devices.cuda_program import CudaProgram
from burnish.devices.port import Image, Place, Program, Regime
from burnish.errors import DeviceError
from burnish.model.workload import Workload

__all__ = ["CudaSession"]

_SHORT_US = 30.0  # below it the host cannot queue launches as fast as they run
_REPLAY_US = 200.0
_MOST_NODES = 256
_PROBES = 3

_numbers = count(1)


class CudaSession:
    """Implements `burnish.devices.port.Session` and `Resident`."""

    def __init__(
        self, card: Card, workload: Workload, places: Mapping[str, Place], regime: Regime
    ) -> None:
        self._card = card
        self._workload = workload
        self._regime = regime
        self._buffers = Buffers(card.memory, card.kernels, workload, places)
        self._values = packed(workload.arguments, self._buffers.address)
        shape = Shape(
            workload.grid,
            workload.block,
            workload.cluster,
            workload.dynamic_shared_bytes,
            workload.cooperative,
        )
        self._launch = Launch(card.stream, shape, [one.value for one in self._values])
        self._globals = Globals(card.stream, card.memory, workload.globals)
        self._number = next(_numbers)
        self._nodes: int | None = None  # of a graph; 0: launches are timed one by one

    @property
    def method(self) -> str:
        """How launches are timed, in words: part of the evidence."""
        timer = self._card.timer
        if self._regime is Regime.COLD:
            read, cache = timer.flush_bytes >> 20, timer.l2_bytes >> 20
            return f"events; {read} MiB read before each launch (L2 cache: {cache} MiB)"
        return f"graph of {self._nodes} launches" if self._nodes else "events"

    def upload(self, images: Mapping[str, Image]) -> None:
        """Set whole buffers, guard zones included."""
        self._buffers.upload(self._card.stream, images)

    def restore(self) -> None:
        """Bring back every buffer that a launch may write, on the card."""
        self._buffers.restore(self._card.stream, self._buffers.written)
        self._card.stream.wait("restoring buffers")

    def launch(self, program: Program) -> None:
        """Launch once and wait for the end."""
        self.queue(program)()
        self._card.stream.wait(f"running {_ours(program).entry}")

    def queue(self, program: Program) -> Callable[[], None]:
        """What queues one launch and does not wait: for windows of many launches."""
        known = self._known(program)
        self._globals.set(known)
        return partial(self._launch.queue, known.function, f"launching {known.entry}")

    def download(self, name: str) -> Image:
        """The whole image of a buffer, guard zones included."""
        return self._buffers.download(self._card.stream, name)

    def time_us(self, program: Program, calls: int) -> float:
        """Median time of launches in a row, in µs.

        What a launch updates in place is brought back before each, outside of what is timed.
        """
        if calls < 1:
            raise DeviceError(f"{calls} launches cannot be timed")
        launch = self.queue(program)
        known, timer = _ours(program), self._card.timer
        prepare = partial(self._prepare, known)
        timer.wake()
        if self._regime is Regime.COLD:
            return timer.cold_us(launch, prepare, calls)
        if self._nodes is None:
            self._nodes = self._graph_nodes(timer.warm_us(launch, prepare, _PROBES))
        if not self._nodes:
            return timer.warm_us(launch, prepare, calls)
        if self._number not in known.graphs:
            launch()  # what a first launch loads cannot be loaded while a graph is recorded
            known.graphs[self._number] = timer.graph(launch, self._nodes)
        replays = -(-calls // self._nodes)
        return timer.graph_us(known.graphs[self._number], self._nodes, replays)

    def keep(self, name: str, image: Image) -> int | None:
        """Keep an image of a buffer on the card; None where there is no room."""
        return self._buffers.keep(self._card.stream, name, image)

    def snapshot(self, name: str) -> int | None:
        """Keep a buffer as it is now; None where there is no room."""
        return self._buffers.keep(self._card.stream, name, None)

    def put(self, name: str, held: int) -> None:
        """Set a buffer to a kept image, as `upload` does."""
        self._buffers.put(self._card.stream, name, held)

    def differing(self, name: str, held: int) -> int:
        """In how many bytes a buffer differs from a kept image, guard zones included."""
        return self._buffers.differing(name, held)

    def release(self, held: int) -> None:
        """Forget a kept image."""
        self._buffers.release(held)

    def digest(self, name: str) -> str:
        """A digest of a buffer, guard zones included, made on the card."""
        return self._buffers.digest(name)

    def close(self) -> None:
        """Give the session's memory back; programs stay loaded."""
        self._card.stream.wait("before closing a session")
        self._buffers.close()
        self._globals.close()

    def _known(self, program: Program) -> CudaProgram:
        """Make a program ready for this workload; most of it only once."""
        known = _ours(program)
        if self._number not in known.ready_for:
            require_match(self._workload.arguments, self._values, known)
            known.allow(self._launch.shape)
            known.ready_for.add(self._number)
        return known

    def _prepare(self, known: CudaProgram) -> None:
        self._buffers.restore(self._card.stream, self._buffers.updated)
        self._globals.set(known)

    def _graph_nodes(self, once_us: float) -> int:
        must_prepare = bool(self._buffers.updated) or bool(self._globals)
        if must_prepare or self._workload.cooperative or once_us >= _SHORT_US:
            return 0
        return min(_MOST_NODES, max(2, round(_REPLAY_US / max(once_us, 1.0))))


def _ours(program: Program) -> CudaProgram:
    if not isinstance(program, CudaProgram) or not program.is_open:
        raise DeviceError("the program was not loaded by this device, or is closed already")
    return program

"""How launches are timed on a card, under either regime.

Cold: before every launch a buffer of zeros, three times as large as the L2 cache, is read. It
leaves the cache full of clean lines (a fill would leave dirty ones, which are written back while
the timed kernel runs), and it keeps the card busy while the host queues what comes next, so that
no launch gap is timed.

Warm: launches in a row behind one that is not timed. Where they are short, a graph of many is
timed as a whole, since an event's resolution is half a microsecond.
"""

import time
from collections.abc import Callable
from statistics import median

from cuda.bindings import driver

from burnish.devices.cuda_driver import done, made
from burnish.devices.cuda_kernels import Kernels
from burnish.devices.cuda_memory import Memory
from burnish.devices.cuda_stream import Stream
from burnish.errors import DeviceError

__all__ = ["Timer"]

Queue = Callable[[], None]

FLUSH_RATIO = 3
_ROUND_BYTES = 1 << 20
_BATCH = 64  # launches whose events are out at once
_BUSY_CYCLES = 150_000  # some 80 µs: what the host needs to get ahead
_WAKE_S = 0.3  # out of idle clocks, once
_STIR_S = 0.01  # after a pause
_PAUSE_S = 0.2
_US_PER_MS = 1000.0


class Timer:
    """Times launches on one stream.

    Attributes:
        l2_bytes: Size of the card's last cache.
        flush_bytes: What is read before a cold launch: more than twice the cache.
    """

    def __init__(self, stream: Stream, memory: Memory, kernels: Kernels, l2_bytes: int) -> None:
        if l2_bytes <= 0:
            raise DeviceError("the card does not say how large its L2 cache is")
        self.l2_bytes = l2_bytes
        self.flush_bytes = -(-FLUSH_RATIO * l2_bytes // _ROUND_BYTES) * _ROUND_BYTES
        self._stream = stream
        self._kernels = kernels
        self._reader = kernels.reader(memory.allocate(self.flush_bytes))
        self._waiter = kernels.waiter(_BUSY_CYCLES)
        self._events = [self._event() for _ in range(2 * _BATCH)]
        self._last_ns = 0

    def cold_us(self, launch: Queue, prepare: Queue, calls: int) -> float:
        """Median time of launches, each prepared and behind a flush."""

        def ready() -> None:
            prepare()
            self._kernels.flush(self._reader)

        return self._median(launch, ready, calls)

    def warm_us(self, launch: Queue, prepare: Queue, calls: int) -> float:
        """Median time of launches in a row, each prepared."""
        self._kernels.wait(self._waiter)
        prepare()
        launch()
        return self._median(launch, prepare, calls)

    def graph(self, launch: Queue, nodes: int) -> object:
        """Record launches into a graph, ready to run."""
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        done("recording a graph", driver.cuStreamBeginCapture(self._stream.handle, mode))
        try:
            for _ in range(nodes):
                launch()
        finally:
            recorded = driver.cuStreamEndCapture(self._stream.handle)
        graph = made("recording a graph", recorded)
        runnable = made("making a graph", driver.cuGraphInstantiate(graph, 0))
        done("dropping a graph", driver.cuGraphDestroy(graph))
        return runnable

    def graph_us(self, graph: object, nodes: int, replays: int) -> float:
        """Median over replays of the time of one launch of a graph."""

        def replay() -> None:
            done("running a graph", driver.cuGraphLaunch(graph, self._stream.handle))

        return self.warm_us(replay, _nothing, replays) / nodes

    def wake(self) -> None:
        """Keep the card busy until its clocks are up; costs time once, and after pauses."""
        idle_s = (time.perf_counter_ns() - self._last_ns) / 1e9
        if self._last_ns and idle_s < _PAUSE_S:
            return
        end_ns = time.perf_counter_ns() + int((_STIR_S if self._last_ns else _WAKE_S) * 1e9)
        while time.perf_counter_ns() < end_ns:
            for _ in range(16):
                self._kernels.flush(self._reader)
            self._stream.wait("waking the card")

    def close(self) -> None:
        """Give the events back."""
        for event in self._events:
            driver.cuEventDestroy(event)

    def _median(self, launch: Queue, ready: Queue, calls: int) -> float:
        times: list[float] = []
        while len(times) < calls:
            times += self._batch(launch, ready, min(_BATCH, calls - len(times)))
        self._last_ns = time.perf_counter_ns()
        return median(times)

    def _batch(self, launch: Queue, ready: Queue, calls: int) -> list[float]:
        pairs = [(self._events[2 * i], self._events[2 * i + 1]) for i in range(calls)]
        for start, end in pairs:
            ready()
            self._stream.record(start)
            launch()
            self._stream.record(end)
        self._stream.wait("running the timed launches")
        return [_US_PER_MS * _elapsed_ms(start, end) for start, end in pairs]

    def _event(self) -> object:
        return made("making an event", driver.cuEventCreate(0))


def _elapsed_ms(start: object, end: object) -> float:
    return float(str(made("reading an event", driver.cuEventElapsedTime(start, end))))


def _nothing() -> None:
    """Nothing has to be prepared."""

"""Energy of launches in a row, between two ticks of the card's counter.

The counter moves only every 20 to 100 ms, so a window begins and ends where it was seen to move.
Two batches are always queued: the card does not rest while the host looks at the counter.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from cuda.bindings import driver

from burnish.devices.cuda_driver import done, made
from burnish.devices.cuda_stream import Stream
from burnish.errors import DeviceError

__all__ = ["Window", "energy_window"]

_BATCH_S = 0.002
_PROBES = 3
_MOST_LAUNCHES = 2000
_QUEUED = 2
_LONGEST_TICK_S = 5.0


@dataclass(frozen=True, slots=True)
class Window:
    """What a card used while it did one thing over and over.

    Attributes:
        energy_mj: Energy of the whole board.
        launches: Launches that ended in the window, correct to a batch of some 2 ms.
        span_s: Length of the window.
    """

    energy_mj: float
    launches: int
    span_s: float


@dataclass(frozen=True, slots=True)
class _Tick:
    at_s: float
    energy_mj: float
    launches: int


def energy_window(
    stream: Stream,
    launch: Callable[[], None],
    counter_mj: Callable[[], float | None],
    seconds: float,
) -> Window:
    """Launch for that long and read the counter on its ticks.

    Raises:
        DeviceError: The card has no such counter, or it does not move.
    """
    batches = _Batches(stream, launch)
    try:
        start = _next_tick(batches, counter_mj)
        while time.perf_counter() - start.at_s < seconds:
            batches.step()
        end = _next_tick(batches, counter_mj)
    finally:
        batches.close()
    return Window(
        end.energy_mj - start.energy_mj,
        end.launches - start.launches,
        end.at_s - start.at_s,
    )


def _next_tick(batches: "_Batches", counter_mj: Callable[[], float | None]) -> _Tick:
    before, began_s = counter_mj(), time.perf_counter()
    while True:
        batches.step()
        now_mj, now_s = counter_mj(), time.perf_counter()
        if before is None or now_mj is None:
            raise DeviceError("this card has no energy counter that can be read")
        if now_mj != before:
            return _Tick(now_s, now_mj, batches.ended)
        if now_s - began_s > _LONGEST_TICK_S:
            raise DeviceError(f"the energy counter did not move for {_LONGEST_TICK_S:.0f} s")


class _Batches:
    """Launches in batches, two of them in flight."""

    def __init__(self, stream: Stream, launch: Callable[[], None]) -> None:
        self.ended = 0
        self._stream = stream
        self._launch = launch
        self._flying: deque[object] = deque()
        self._resting = [
            made("making an event", driver.cuEventCreate(0)) for _ in range(_QUEUED + 1)
        ]
        self._size = self._fitting()

    def step(self) -> None:
        """Queue a batch and wait until no more than two are in flight."""
        event = self._resting.pop()
        for _ in range(self._size):
            self._launch()
        self._stream.record(event)
        self._flying.append(event)
        if len(self._flying) > _QUEUED:
            first = self._flying.popleft()
            done("running launches for energy", driver.cuEventSynchronize(first))
            self._resting.append(first)
            self.ended += self._size

    def close(self) -> None:
        """Wait for what is in flight."""
        self._stream.wait("running launches for energy")
        for event in (*self._flying, *self._resting):
            driver.cuEventDestroy(event)

    def _fitting(self) -> int:
        self._launch()
        self._stream.wait("running launches for energy")
        began_s = time.perf_counter()
        for _ in range(_PROBES):
            self._launch()
        self._stream.wait("running launches for energy")
        once_s = (time.perf_counter() - began_s) / _PROBES
        return min(_MOST_LAUNCHES, max(1, round(_BATCH_S / once_s)))

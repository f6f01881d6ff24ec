"""A pool of threads on this machine. Threads are enough: the work is in other processes."""

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from burnish.toolchain.process import kill_all

__all__ = ["LocalPool", "usable_cores"]

P = ParamSpec("P")
T = TypeVar("T")


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


class LocalPool:
    """Runs calls on ``jobs`` threads; leaving it by an exception kills what still runs."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="burnish-compile")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            kill_all()
        self._threads.shutdown(cancel_futures=True)

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a call on the next free thread."""
        return self._threads.submit(call, *args, **kwargs)

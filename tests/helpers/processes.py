"""What lives on this machine."""

import time
from collections.abc import Callable
from pathlib import Path


def lives(pid: int) -> bool:
    """Whether a process runs; one that is over and was not reaped does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_for(what: Callable[[], bool], within_s: float = 10.0) -> bool:
    deadline = time.perf_counter() + within_s
    while not what():
        if time.perf_counter() > deadline:
            return False
        time.sleep(0.005)
    return True

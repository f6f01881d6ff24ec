"""Setups and jobs for workers: at the top of a module, so that they can be sent."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from burnish.devices.worker import stage
from burnish.errors import DeviceError, LaunchError


class Made:
    """What the setup makes: counts how often jobs used it."""

    def __init__(self) -> None:
        self.uses = 0


def make() -> Made:
    return Made()


def fail_to_make() -> Made:
    raise DeviceError("no device here")


def fail_to_fit(log: str) -> Made:
    with Path(log).open("a") as file:
        file.write("x")
    raise LaunchError("workload 'a': writes out of bounds")


def crash_in_the_plain_build() -> Made:
    stage("running the plain build")
    os.kill(os.getpid(), signal.SIGSEGV)
    return Made()


def hang_in_setup() -> Made:
    stage("opening")
    time.sleep(1000)
    return Made()


def die_in_setup() -> Made:
    os._exit(7)


def use(made: Made) -> int:
    made.uses += 1
    return made.uses


def pid(_made: object) -> int:
    return os.getpid()


def spin(_made: object) -> None:
    stage("load")
    stage("run")
    while True:
        pass


def spin_in_c(_made: object) -> None:
    """Hold the interpreter for ever: no thread of ours runs meanwhile."""
    stage("run")
    ctypes.PyDLL(None).sleep(1000)


def linger(_made: object, seconds: float, within_s: float) -> str:
    stage("quick", within_s=within_s)
    time.sleep(seconds)
    stage("slow")
    time.sleep(seconds)
    return "done"


def hang_in_the_plain_build(log: str) -> Made:
    with Path(log).open("a") as file:
        file.write("x")
    stage("running the plain build", within_s=0.5)
    time.sleep(1000)
    return Made()


def tick(_made: object, seconds: float, ticks: int) -> str:
    for number in range(ticks):
        stage(str(number))
        time.sleep(seconds)
    return "done"


def segfault(_made: object) -> None:
    stage("run")
    ctypes.string_at(8)


def leave(_made: object, code: int) -> None:
    stage("run")
    os._exit(code)


def ask_to_leave(_made: object) -> None:
    sys.exit(3)


def kill_self(_made: object, number: int) -> None:
    os.kill(os.getpid(), number)


def divide(_made: object) -> float:
    stage("sum")
    return 1 / (os.getpid() - os.getpid())


def refuse(_made: object) -> None:
    raise DeviceError("launch refused")


def differ(_made: object) -> None:
    raise LaunchError("the baseline is not repeatable")


def unsendable(_made: object) -> object:
    return threading.Lock()


class Unreadable:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return int, ("no number",)


def unreadable(_made: object) -> object:
    return Unreadable()


def huge(_made: object, size: int) -> bytes:
    return b"x" * size


def size_of(_made: object, data: bytes) -> int:
    return len(data)


def hang_up(_made: object) -> None:
    os.closerange(3, 256)
    time.sleep(1000)


def talk(_made: object) -> None:
    print("from python")  # noqa: T201
    os.write(1, b"from c\n")


def start_family(_made: object, notes: str) -> None:
    """Start a child, one in its own session, and one of a parent that is gone; then hang."""
    stage("family")
    sleep = ["sleep", "1000"]
    child = subprocess.Popen(sleep)
    apart = subprocess.Popen(sleep, start_new_session=True)
    code = (
        "import subprocess as s; "
        "print(s.Popen(['sleep', '1000'], start_new_session=True, stdout=-3, stderr=-3).pid)"
    )
    orphan = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    write_pids(notes, [os.getpid(), child.pid, apart.pid, int(orphan)])
    stage("waiting")
    time.sleep(1000)


def write_pids(notes: str, pids: Sequence[int]) -> None:
    Path(notes + ".part").write_text(" ".join(map(str, pids)))
    Path(notes + ".part").rename(notes)


def ignore_signals(_made: object) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(1000)


def note_and_die(_made: object, log: str) -> None:
    with Path(log).open("a") as file:
        file.write("x")
    os._exit(1)


def poison(made: Made) -> None:
    made.uses = -1


def die_of_poison(made: Made) -> str:
    if made.uses < 0:
        os._exit(1)
    return "well"


def run_unless(_made: object, sick: str, *, heal: bool = False) -> None:
    if Path(sick).exists():
        if heal:
            Path(sick).unlink()
        os._exit(1)

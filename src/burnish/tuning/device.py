"""Which device a task means."""

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from burnish.devices.cuda import cards_found, open_cuda
from burnish.devices.host import open_host
from burnish.devices.port import Device, Regime
from burnish.errors import UsageError
from burnish.tuning.task import Task

__all__ = ["DeviceChoice", "choose_device"]

_CUDA = re.compile(r"cuda(?::(\d+))?")
_STATIC = "or make a static figure small: --device none --minimize registers"


@dataclass(frozen=True)
class DeviceChoice:
    """A device, not opened yet.

    Attributes:
        kind: ``none``, ``host`` or ``cuda``.
        name: The model; empty for ``none``.
        driver: Version of its driver; empty where there is none.
        open: Opens it, in a worker; None for ``none``.
        regime: What the caches hold when a timed launch starts, unless the user says otherwise.
            A card's kernel meets other kernels' data; on the host, where a cache is as large as
            many a kernel's data, it is called in a loop as often as not, and flushing it would
            take twenty times as long as the launch.
    """

    kind: str
    name: str = ""
    driver: str = ""
    open: Callable[[], Device] | None = None
    regime: Regime = Regime.COLD


def choose_device(task: Task) -> DeviceChoice:
    """The device that a task names, or the one that its kernel runs on.

    Raises:
        UsageError: There is none, or the kernel cannot run on it.
    """
    is_host_kernel = task.kernel.suffix == ".c"
    wanted = task.device
    if wanted == "auto":
        wanted = "host" if is_host_kernel else "cuda"
    if wanted == "none":
        return DeviceChoice("none")
    match = _CUDA.fullmatch(wanted)
    if wanted == "host" and is_host_kernel:
        if "energy" in task.minimize:
            raise UsageError("--minimize energy: the host counts none; a CUDA device does")
        return DeviceChoice("host", _processor_name(), "", open_host, Regime.WARM)
    if match is None and wanted != "host":
        raise UsageError(f"--device {task.device!r}: choose auto, cuda, cuda:N, host or none")
    if is_host_kernel or match is None:
        kind = "a C kernel runs on the host" if is_host_kernel else "only .c kernels run there"
        raise UsageError(f"--device {task.device}: {kind}")
    return _card(int(match[1] or 0), task)


def _processor_name() -> str:
    """The model of this machine's processor, as the kernel says it."""
    try:
        said = Path("/proc/cpuinfo").read_text()
    except OSError:
        said = ""
    found = re.search(r"^model name\s*:\s*(.+)$", said, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _card(ordinal: int, task: Task) -> DeviceChoice:
    cards = cards_found()
    if ordinal >= len(cards):
        found = ", ".join(card.name for card in cards) or "no CUDA device"
        raise UsageError(f"--device {task.device}: found {found}; name another device, {_STATIC}")
    card = cards[ordinal]
    return DeviceChoice("cuda", card.name, card.driver, partial(open_cuda, ordinal))

"""The bench of a task: its device with the plain build on it."""

from pathlib import Path

from burnish.devices.port import Regime
from burnish.evaluate.bench import Bench
from burnish.evaluate.lane import LaneSetup
from burnish.measure.sitting import Contender
from burnish.model.binary import Binary
from burnish.model.workload import Workload
from burnish.tuning.device import DeviceChoice
from burnish.tuning.rules import rules_for
from burnish.tuning.task import Task

__all__ = ["bench_of"]


def bench_of(
    task: Task, device: DeviceChoice, plain: Binary, entry: str, workloads: tuple[Workload, ...]
) -> Bench:
    """The bench on which candidates of a task are held against the plain build; not entered yet.

    Args:
        task: Regime, seed and reference are taken from it.
        device: Its device, on which kernels run.
        plain: The plain build.
        entry: The kernel's entry.
        workloads: All of them, those that are held out included.
    """
    assert device.open is not None, "where nothing is run there is no bench"
    setup = LaneSetup(
        open_device=device.open,
        baseline=Contender(plain.image, entry),
        workloads=workloads,
        regime=Regime(task.regime),
        seed=task.seed,
        reference=task.reference,
        folder=Path.cwd(),
        must_repeat=device.kind == "host",  # on one core, no two threads race there
    )
    return Bench(setup, task.seed, rules_for(device.kind))

"""Setups and jobs for workers that own a card, real or fake."""

from functools import partial
from pathlib import Path

import pytest
from tests.helpers.cuda_checks import opened
from tests.helpers.fakecuda.build import load_driver

from burnish.devices.cuda import open_cuda
from burnish.devices.cuda_device import CudaDevice
from burnish.devices.worker import Fault, Worker, WorkerFailure
from burnish.model.workload import Buffer, Role, Scalar, Workload

__all__ = ["fault_in_a_worker", "open_fake", "run_fault"]


def open_fake(folder: Path) -> CudaDevice:
    """Open the fake card, in a worker."""
    load_driver(folder)
    return open_cuda(0)


def run_fault(image: bytes, code: int, device: CudaDevice) -> None:
    """Launch what fails with an error of that number."""
    arguments = (Buffer("y", "i32", (64,), Role.OUT), Scalar("code", "i32", code))
    opened(device, Workload("fault", arguments), {}).launch(device.load(image, "fault"))


def fault_in_a_worker(folder: Path, code: int) -> str:
    """Run a fault in a worker with the fake card; what the failure says."""
    image = (folder / "plain.so").read_bytes()
    with Worker(partial(open_fake, folder)) as worker:
        with pytest.raises(WorkerFailure) as caught:
            worker.call(partial(run_fault, image, code), 60)
        assert caught.value.kind is Fault.ERROR
        assert caught.value.error is not None
        return str(caught.value.error)

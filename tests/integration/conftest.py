"""A CUDA driver without a card, for tests of what happens on one."""

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.helpers.fakecuda.build import FOLDER, build_driver, build_kernels, load_driver

from burnish.devices.cuda import card_names, open_cuda

if TYPE_CHECKING:  # importing it would load the real driver, where there is one
    from burnish.devices.cuda_device import CudaDevice

ROOT = FOLDER.parents[2]


@pytest.fixture(scope="session")
def fake_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the driver, Burnish's own kernels and the test kernels, for the CPU."""
    if card_names():
        pytest.skip("this machine has a card: tests/gpu checks the device on it")
    pytest.importorskip("cuda.bindings")
    nvidia = pytest.importorskip("nvidia")
    folder = tmp_path_factory.mktemp("fakecuda")
    found = [Path(path) / "cu13" / "include" for path in nvidia.__path__]
    build_driver(folder / "libcuda.so.1", next(path for path in found if path.exists()))
    build_kernels(ROOT / "src" / "burnish" / "devices" / "kernels.cu", folder / "kernels.so")
    build_kernels(ROOT / "tests" / "gpu" / "kernels" / "plain.cu", folder / "plain.so")
    return folder


@pytest.fixture(scope="session")
def fake_driver(fake_folder: Path) -> ctypes.CDLL:
    """The driver, with the functions by which tests order and ask."""
    return load_driver(fake_folder)


@pytest.fixture
def fake_card(fake_driver: ctypes.CDLL) -> Iterator["CudaDevice"]:
    """A card that gives everything back."""
    opened = open_cuda(0)
    yield opened
    opened.close()
    assert fake_driver.fake_live_bytes() == 0, "memory was left on the card"

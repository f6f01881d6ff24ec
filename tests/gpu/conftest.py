"""A real card for tests; without one, they skip."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.helpers.cuda_jobs import cubin_of

from burnish.devices.cuda import card_names, open_cuda
from burnish.devices.port import Program

if TYPE_CHECKING:
    from burnish.devices.cuda_device import CudaDevice

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)


@pytest.fixture(scope="session", autouse=True)
def has_card() -> None:
    if not card_names():
        pytest.skip("no NVIDIA card")


@pytest.fixture(scope="session")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """Machine code of a file in the folder ``kernels``."""
    folder = tmp_path_factory.mktemp("cubins")
    return cache(lambda name: cubin_of(HERE / "kernels" / f"{name}.ptx", "sm_90a", folder))


@pytest.fixture(scope="module")
def card() -> Iterator["CudaDevice"]:
    """A card in this process: only what is known to be harmless may run on it."""
    opened = open_cuda(0)
    yield opened
    opened.close()


@pytest.fixture
def load(card: "CudaDevice", cubin: Callable[[str], bytes]) -> Callable[[str], Program]:
    """Load an entry of ``plain.cu``."""
    return partial(card.load, cubin("plain"))

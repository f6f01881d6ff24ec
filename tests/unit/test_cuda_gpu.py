"""What the management library says, and what is made of its silence."""

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from burnish.devices.port import DeviceState

pytest.importorskip("pynvml")

from burnish.devices import cuda_gpu

BUS = "00000000:17:00.0"


class NotSupportedError(Exception):
    pass


class Library:
    """A management library with one card."""

    NVMLError = NotSupportedError
    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0
    NVML_SUCCESS = 0

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.broken: set[str] = set()
        self.instant_mw = 451_000

    def __getattribute__(self, name: str) -> object:
        if name.startswith("nvml") and name in self.broken:
            return self._refuse
        return object.__getattribute__(self, name)

    def _refuse(self, *_: object) -> None:
        raise NotSupportedError

    def nvmlInit(self) -> None:  # noqa: N802
        pass

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 1

    def nvmlDeviceGetHandleByIndex(self, _: int) -> str:  # noqa: N802
        return "handle"

    def nvmlDeviceGetHandleByPciBusId(self, _: bytes) -> str:  # noqa: N802
        return "handle"

    def nvmlDeviceGetPciInfo(self, _: str) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(busId=BUS)

    def nvmlDeviceGetName(self, _: str) -> str:  # noqa: N802
        return "NVIDIA H200"

    def nvmlSystemGetDriverVersion(self) -> str:  # noqa: N802
        return "580.159.03"

    def nvmlDeviceGetClockInfo(self, _: str, __: int) -> int:  # noqa: N802
        return 1980

    def nvmlDeviceGetTemperature(self, _: str, __: int) -> int:  # noqa: N802
        return 41

    def nvmlDeviceGetTotalEnergyConsumption(self, _: str) -> int:  # noqa: N802
        return 123_456

    def nvmlDeviceGetFieldValues(self, _: str, __: object) -> list[SimpleNamespace]:  # noqa: N802
        value = SimpleNamespace(uiVal=self.instant_mw)
        return [SimpleNamespace(nvmlReturn=0 if self.instant_mw else 3, value=value)]

    def nvmlDeviceGetPowerUsage(self, _: str) -> int:  # noqa: N802
        return 300_000

    def nvmlDeviceGetCurrentClocksEventReasons(self, _: str) -> int:  # noqa: N802
        return 0x1 | 0x4 | 0x20

    def nvmlDeviceGetComputeRunningProcesses(self, _: str) -> list[SimpleNamespace]:  # noqa: N802
        return [SimpleNamespace(pid=pid) for pid in self.pids]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    fake = Library()
    monkeypatch.setattr(cuda_gpu, "pynvml", fake)
    forget()
    yield fake
    forget()


def forget() -> None:
    cached: list[Callable[..., object]] = [cuda_gpu._is_started, cuda_gpu._handle]  # noqa: SLF001
    for one in cached:
        one.cache_clear()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("library")
def test_a_card_tells_its_state_with_the_reasons_that_hold_its_clock_down() -> None:
    (gpu,) = cuda_gpu.gpus()
    assert (gpu.name, gpu.driver, gpu.bus) == ("NVIDIA H200", "580.159.03", BUS)
    held = ("software power cap", "software thermal slowdown")
    assert gpu.state() == DeviceState(1980.0, 451.0, 41.0, held)


def test_what_a_card_does_not_tell_is_not_known(library: Library) -> None:
    (gpu,) = cuda_gpu.gpus()
    library.broken = {"nvmlDeviceGetClockInfo", "nvmlDeviceGetCurrentClocksEventReasons"}
    library.instant_mw = 0
    assert gpu.state() == DeviceState(None, 300.0, 41.0, ())
    assert gpu.energy_mj() == 123_456.0


def test_without_a_driver_there_are_no_cards(library: Library) -> None:
    library.broken = {"nvmlInit"}
    assert cuda_gpu.gpus() == ()
    assert cuda_gpu.others_on(BUS) == ()
    assert cuda_gpu.Gpu(BUS, "", "").state() == DeviceState()


def test_our_own_family_is_no_other_process(library: Library) -> None:
    library.pids = [os.getpid(), os.getppid(), 1]
    assert cuda_gpu.others_on(BUS) == (1,)


def test_where_process_numbers_are_hidden_one_is_taken_for_ours(library: Library) -> None:
    library.pids = [4_000_001]
    assert cuda_gpu.others_on(BUS) == ()
    library.pids = [4_000_001, 4_000_002]
    assert cuda_gpu.others_on(BUS) == (4_000_002,)

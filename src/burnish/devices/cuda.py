"""NVIDIA cards: what the parent may ask, and how a worker opens one.

The parent never makes a CUDA context: it asks the management library, and hands `open_cuda` to a
worker (`burnish.devices.worker`). Nothing here imports a CUDA package before it is called.
"""

from typing import TYPE_CHECKING

from burnish.errors import DeviceError

if TYPE_CHECKING:
    from burnish.devices.cuda_device import CudaDevice
    from burnish.devices.cuda_gpu import Gpu

__all__ = ["card_names", "cards_found", "open_cuda", "require_healthy"]

_PACKAGES = "the packages for NVIDIA cards are missing; try: pip install 'burnish[cuda]'"


def cards_found() -> "tuple[Gpu, ...]":
    """The cards of this machine; empty where there is none, no driver or no package."""
    try:
        from burnish.devices.cuda_gpu import gpus
    except ImportError:
        return ()
    return tuple(gpus())


def card_names() -> tuple[str, ...]:
    """Models of the cards of this machine."""
    return tuple(card.name for card in cards_found())


def open_cuda(ordinal: int = 0) -> "CudaDevice":
    """Open a card in this process; for a worker: ``Worker(partial(open_cuda, 0))``.

    Args:
        ordinal: As CUDA counts, so that ``CUDA_VISIBLE_DEVICES`` is respected.

    Raises:
        DeviceError: There is no such card, no driver, or no package to reach it.
    """
    try:
        from burnish.devices.cuda_device import CudaDevice
    except ImportError as missing:
        raise DeviceError(f"{_PACKAGES} ({missing})") from missing
    try:
        return CudaDevice(ordinal)
    except RuntimeError as missing:  # cuda-bindings' answer where the driver's library is missing
        raise DeviceError(f"CUDA's driver cannot be reached: {missing}") from missing


def require_healthy(device: "CudaDevice") -> None:
    """A job for a worker: check a card after a fault. Raises DeviceError where it is not well."""
    device.require_healthy()

"""What the machine code is for."""

from dataclasses import dataclass

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """A device model and its architecture.

    Attributes:
        arch: ``sm_90a``, or the host's, such as ``x86_64``.
        device: The model, such as ``NVIDIA H200``; empty where nothing is run.
        driver: The driver's version; empty where nothing is run.
    """

    arch: str
    device: str = ""
    driver: str = ""

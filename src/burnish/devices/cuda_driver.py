"""The CUDA driver: what it refuses becomes an error that names stage and cause.

Only the files `cuda_*.py` of this package import the driver, and only a worker imports them.
"""

from typing import SupportsInt, cast

from cuda.bindings import driver

from burnish.errors import DeviceError

__all__ = ["STICKY", "Result", "done", "failure", "made", "number"]

# After one of these the process can do nothing more on the device: what lies in its memory may
# be damaged, and every later call fails too. CUDA's documentation asks to end the process.
STICKY = frozenset(
    {
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_CONTAINED",
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_UNKNOWN",
    }
)

Result = tuple[object, ...]  # first the driver's verdict, then what the call returns


def failure(stage: str, verdict: object) -> DeviceError:
    """The error for a call that the driver answered with ``verdict``."""
    name, text = (_words(ask(verdict)) for ask in (driver.cuGetErrorName, driver.cuGetErrorString))
    code = int(cast("SupportsInt", verdict))
    message = f"{stage}: {name or 'CUDA error'} ({code}): {text or 'not known to this driver'}"
    if name in STICKY:
        message += "; sticky: this process can no longer use the device"
    return DeviceError(message)


def _words(result: Result) -> str:
    found = result[-1]
    return found.decode() if isinstance(found, bytes) else ""


def done(stage: str, result: Result) -> None:
    """Raise DeviceError unless a call succeeded."""
    if result[0] != 0:
        raise failure(stage, result[0])


def made(stage: str, result: Result) -> object:
    """The handle that a call made; raises DeviceError where it refused."""
    done(stage, result)
    return result[1]


def number(stage: str, result: Result) -> int:
    """The number or address that a call returned; raises DeviceError where it refused."""
    return int(cast("SupportsInt", made(stage, result)))

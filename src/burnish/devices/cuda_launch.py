"""A launch, packed once, so that queueing it costs the host as little as can be."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from cuda.bindings import driver

from burnish.devices.cuda_driver import Result, done
from burnish.devices.cuda_stream import Stream

__all__ = ["Launch", "Shape"]

Three = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """How many threads, and what they share.

    Attributes:
        grid: Blocks along x, y, z.
        block: Threads along x, y, z.
        cluster: Blocks a cluster along x, y, z; all 1 for none.
        dynamic_shared_bytes: Dynamic shared memory a block.
        cooperative: Whether all blocks must be resident at once.
    """

    grid: Three
    block: Three
    cluster: Three = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    cooperative: bool = False


class Launch:
    """Configuration and parameters, where the driver finds them."""

    def __init__(self, stream: Stream, shape: Shape, values: Sequence[bytes]) -> None:
        self.shape = shape
        self._values = [ctypes.create_string_buffer(value, len(value)) for value in values]
        addresses = [ctypes.addressof(value) for value in self._values]
        self._pointers = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
        self._parameters = ctypes.addressof(self._pointers)
        self._config = _config(stream, shape)

    def queue(self, function: object, stage: str) -> None:
        """Queue one launch. Raises DeviceError where the driver refuses it."""
        result: Result = driver.cuLaunchKernelEx(self._config, function, self._parameters, 0)
        if result[0] != 0:
            done(stage, result)


def _config(stream: Stream, shape: Shape) -> object:
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid
    config.blockDimX, config.blockDimY, config.blockDimZ = shape.block
    config.sharedMemBytes = shape.dynamic_shared_bytes
    config.hStream = stream.handle
    attributes = []
    if prod(shape.cluster) > 1:
        cluster = driver.CUlaunchAttribute()
        cluster.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        wanted = cluster.value.clusterDim
        wanted.x, wanted.y, wanted.z = shape.cluster
        attributes.append(cluster)
    if shape.cooperative:
        together = driver.CUlaunchAttribute()
        together.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        together.value.cooperative = 1
        attributes.append(together)
    config.attrs = attributes
    config.numAttrs = len(attributes)
    return config

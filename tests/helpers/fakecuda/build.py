"""Builds the fake driver, and CUDA C++ for it: what tests hand to `CudaDevice.load`."""

import ctypes
import re
from pathlib import Path

from burnish.toolchain import process

__all__ = ["FOLDER", "build_driver", "build_kernels", "load_driver"]

FOLDER = Path(__file__).parent
_ENTRY = re.compile(r'extern "C" __global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+(\w+)\(')
_GLOBAL = re.compile(r'extern "C" __(?:constant|device)__ \w+ (\w+)')
_DYNAMIC = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")


def build_driver(target: Path, includes: Path) -> None:
    """Compile libcuda.so.1; ``includes`` holds cuda.h."""
    _run("gcc", "-O1", f"-I{includes}", "-Wl,-soname,libcuda.so.1", "-o", target,
         FOLDER / "driver.c", "-ldl")  # fmt: skip


def build_kernels(source: Path, target: Path) -> None:
    """Compile every `extern "C"` kernel of a file for the fake driver."""
    text = source.read_text()
    exports = [f"ON_CPU({name})" for name in _ENTRY.findall(text)]
    exports += [f"ON_CPU_GLOBAL({name})" for name in _GLOBAL.findall(text)]
    wrapper = target.with_suffix(".cpp")
    body = _DYNAMIC.sub(r"\1* \2 = (\1*)fake_shared;", text)
    lines = ["#define FAKE_CUDA", f'#include "{FOLDER / "on_cpu.h"}"', body, *exports]
    wrapper.write_text("\n".join(lines) + "\n")
    _run("g++", "-std=c++17", "-O2", "-ffp-contract=off", "-w", "-o", target, wrapper)


def load_driver(folder: Path) -> ctypes.CDLL:
    """Make the fake the CUDA driver of this process: the bindings find it by its name."""
    driver = ctypes.CDLL(str(folder / "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
    driver.fake_kernels(str(folder / "kernels.so").encode())
    driver.fake_live_bytes.restype = ctypes.c_size_t
    driver.fake_total_bytes.argtypes = [ctypes.c_size_t]
    return driver


def _run(compiler: str, *arguments: str | Path) -> None:
    outcome = process.run([compiler, "-shared", "-fPIC", *map(str, arguments)])
    if outcome.code:
        raise RuntimeError(outcome.stderr.decode())

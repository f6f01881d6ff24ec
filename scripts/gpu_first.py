"""The first look at a card: does every part of the device work, and how fast is it?

    PYTHONPATH=src:.:build/gpu BURNISH_CACHE=build/gpu/cache python scripts/gpu_first.py OUT.json

Every section is tried by itself, so that one that fails hides no other. Prints as it goes; the
figures go to the file.
"""

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from tests.helpers.cuda_checks import image_of, places_of
from tests.helpers.example_references import REFERENCES

from burnish import settings
from burnish.bundle.dtypes import DTYPES
from burnish.bundle.launch import read_launch
from burnish.devices.cuda import card_names, open_cuda
from burnish.devices.cuda_device import CudaDevice
from burnish.devices.cuda_session import CudaSession
from burnish.devices.port import Regime
from burnish.model.code import Code
from burnish.model.workload import Buffer, Workload
from burnish.toolchain.discover import find
from burnish.toolchain.ptxas import Assembled, assemble

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "kernels"
MIB = 1 << 20

Report = dict[str, object]


class Look:
    """What was found so far."""

    def __init__(self, target: Path) -> None:
        self.report: Report = {}
        self._target = target

    @contextmanager
    def section(self, name: str) -> Iterator[Report]:
        """One part: its figures, its time, and its error where it fails."""
        figures: Report = {}
        self.report[name] = figures
        start = time.perf_counter()
        try:
            yield figures
        except Exception as error:  # noqa: BLE001 - the next section is worth a try, whatever it was
            figures["error"] = f"{type(error).__name__}: {error}"
            traceback.print_exc()
        figures["seconds"] = round(time.perf_counter() - start, 3)
        print(f"{name}: {json.dumps(figures, default=str)}", flush=True)
        self._target.write_text(json.dumps(self.report, indent=1, default=str))


def timed_ms(job: Callable[[], object], times: int = 5) -> float:
    """Median host time of a job, in ms."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        job()
        found.append(1000 * (time.perf_counter() - start))
    return round(median(found), 4)


def contents(buffer: Buffer, rng: np.random.Generator) -> NDArray[np.generic]:
    """Inputs, as quickly as they can be drawn."""
    if buffer.role == "out":
        return np.full(buffer.shape, -1, DTYPES[buffer.dtype].stored)
    kind, _, inside = buffer.fill.partition("(")
    if kind == "offsets":
        total = int(inside.rstrip(")"))
        cuts = np.sort(rng.integers(0, total, buffer.shape[0] - 2))
        return np.array([0, *cuts, total], np.int32)
    if kind == "integers":
        low, high = map(int, inside.rstrip(")").split(","))
        return rng.integers(low, high, buffer.shape, np.int32)
    drawn: NDArray[np.generic] = rng.standard_normal(buffer.shape, np.float32)
    return drawn.astype(DTYPES[buffer.dtype].stored, copy=False)


def attention(given: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The first head."""
    scores = given["q"][0] @ given["k"][0].T / 8
    scores[np.triu_indices_from(scores, 1)] = -np.inf
    shares = np.exp(scores - scores.max(1, keepdims=True))
    found: NDArray[np.float64] = shares / shares.sum(1, keepdims=True) @ given["v"][0]
    return found


def reference(entry: str, given: dict[str, NDArray[np.generic]]) -> NDArray[np.float64]:
    """The answer in float64, or the beginning of it where all of it would take long."""
    few = dict(given)
    if entry in {"layer_norm", "softmax"}:
        few["in"] = given["in"][:64]
    if entry == "conv1d":
        few["in"] = given["in"][:1]
    if entry == "stencil":
        few["in"] = given["in"][:24]
    if entry == "spmv":
        few["starts"] = given["starts"][:4097]
    wide = {name: values.astype(np.float64) for name, values in few.items()}
    if entry == "attention":
        return attention(wide)
    if entry == "nbody":
        bodies = wide["bodies"]
        first = bodies[:64]
        apart = bodies[None, :, :3] - first[:, None, :3]
        pulls = (bodies[None, :, 3] / ((apart**2).sum(-1) + 0.01) ** 1.5)[..., None] * apart
        return np.concatenate([pulls.sum(1), np.zeros((64, 1))], axis=1)
    found = REFERENCES[entry](wide)
    return found[:20] if entry == "stencil" else found


def example(card: CudaDevice, image: bytes, entry: str, work: Workload, figures: Report) -> None:
    """Check and time one workload of an example."""
    places, rng = places_of(work), np.random.default_rng(1)
    buffers = [one for one in work.arguments if isinstance(one, Buffer)]
    given = {one.name: contents(one, rng) for one in buffers}
    images = {name: image_of(values, places[name]) for name, values in given.items()}
    out = next(one for one in buffers if one.role == "out")
    for regime in (Regime.COLD,) if work.held_out else Regime:
        session = card.open(work, places, regime)
        figures["upload_ms"] = timed_ms(lambda session=session: session.upload(images), 1)
        program = card.load(image, entry)
        session.launch(program)
        if regime is Regime.COLD:
            figures["error_ratio"] = error_of(session, out, work, reference(entry, given))
        spent_us = session.time_us(program, 15)
        again_us = [session.time_us(program, 5) for _ in range(10)]
        figures[f"{regime}_us"] = round(spent_us, 3)
        figures[f"{regime}_spread_percent"] = spread_percent(again_us)
        figures[f"{regime}_call_ms"] = timed_ms(lambda s=session, p=program: s.time_us(p, 5), 3)
        figures[f"{regime}_method"] = session.method
        if regime is Regime.COLD and work.moved_bytes and work.operations:
            figures["gbps"] = round(work.moved_bytes / spent_us / 1000, 1)
            figures["tflops"] = round(work.operations / spent_us / 1e6, 2)
        program.close()
        session.close()


def error_of(
    session: CudaSession, out: Buffer, work: Workload, expected: NDArray[np.float64]
) -> float:
    """Norm of the error over that of the answer, in the part that is known."""
    place = places_of(work)[out.name]
    image = session.download(out.name)[place.data_offset : place.data_offset + place.data_bytes]
    found = image.view(DTYPES[out.dtype].stored)[: expected.size].astype(np.float64)
    return float(np.linalg.norm(found - expected.ravel()) / np.linalg.norm(expected))


def spread_percent(times: list[float]) -> float:
    """From the second to the ninth decile, of the median."""
    low, high = np.quantile(times, [0.1, 0.9])
    return round(100 * float(high - low) / median(times), 3)


def moving(session: CudaSession, work: Workload, figures: Report) -> int:
    """How fast images move; the number of one that is kept."""
    places = places_of(work)
    blank = {name: np.zeros(place.total_bytes, np.uint8) for name, place in places.items()}
    size = sum(place.total_bytes for place in places.values())
    figures["upload_gbps"] = round(size / timed_ms(lambda: session.upload(blank), 2) / 1e6, 2)
    out = places["out"].total_bytes
    figures["download_gbps"] = round(out / timed_ms(lambda: session.download("out"), 2) / 1e6, 2)
    held = session.snapshot("out")
    assert held is not None
    figures["restore_ms"] = timed_ms(session.restore)
    figures["put_ms"] = timed_ms(lambda: session.put("out", held))
    figures["differing_ms"] = timed_ms(lambda: session.differing("out", held))
    figures["digest_ms"] = timed_ms(lambda: session.digest("out"))
    return held


def device_speed(card: CudaDevice, image: bytes, figures: Report) -> None:
    """What a candidate costs on the device beside its own launches."""
    work = read_launch(EXAMPLES / "softmax.toml").workloads[0]
    session = card.open(work, places_of(work), Regime.COLD)
    held = moving(session, work, figures)
    program = card.load(image, "softmax")
    session.launch(program)
    figures["launch_ms"] = timed_ms(lambda: session.launch(program))
    figures["load_close_ms"] = timed_ms(lambda: card.load(image, "softmax").close(), 20)

    def candidate() -> None:
        one = card.load(image, "softmax")
        for _ in range(6):
            session.put("out", held)
            session.launch(one)
            session.differing("out", held)
        session.time_us(one, 5)
        one.close()

    figures["candidate_ms"] = timed_ms(candidate)
    figures["state_ms"] = timed_ms(card.state)
    window = card.energy_window(session, program, 2.0)
    figures["energy_window"] = str(window)
    figures["mj_per_launch"] = round(window.energy_mj / window.launches, 3)
    session.close()


def ticks_ms(card: CudaDevice) -> list[float]:
    """How often the energy counter moves, in ms."""
    found: list[float] = []
    before, since, end = card.state().energy_mj, time.perf_counter(), time.perf_counter() + 1.5
    while time.perf_counter() < end:
        now = card.state().energy_mj
        if now != before:
            found.append(round(1000 * (time.perf_counter() - since), 1))
            before, since = now, time.perf_counter()
    return found


def main() -> None:
    """Look at everything."""
    look = Look(Path(sys.argv[1] if len(sys.argv) > 1 else "gpu_first.json"))
    images: dict[str, bytes] = {}
    with look.section("machine") as figures:
        figures["cards"] = card_names()
        tools = find(settings.load())
        figures["tools"] = [f"{tool.name} ({tool.origin})" for tool in tools.tools]
    with look.section("open") as figures:
        card = open_cuda(0)
        figures["target"] = str(card.target())
        figures["others"] = card.others()
        figures["state"] = str(card.state())
        card.require_healthy()
        figures["copy_gbps"] = round(card.bandwidth_gbps(), 1)
        figures["state_after"] = str(card.state())
        figures["ticks_ms"] = ticks_ms(card)[:12]
    with look.section("assemble") as figures, TemporaryDirectory() as folder:
        tool = tools.first("ptxas")
        figures["tool"] = tool.name
        for path in sorted(
            [*(ROOT / "build/carry/kernels").glob("*.ptx"), *EXAMPLES.glob("*.ptx")]
        ):
            code = Code(tool.name, ())
            made = assemble(tool, path.read_text(), code, "sm_90a", folder=Path(folder))
            figures[path.stem] = round(made.wall_ms) if isinstance(made, Assembled) else str(made)
            images |= {path.stem: made.cubin} if isinstance(made, Assembled) else {}
    for entry, image in images.items():
        for work in read_launch(EXAMPLES / f"{entry}.toml").workloads:
            with look.section(f"{entry} {work.name}") as figures:
                example(card, image, entry, work, figures)
    with look.section("device speed") as figures:
        device_speed(card, images["softmax"], figures)
    with look.section("close") as figures:
        card.close()


if __name__ == "__main__":
    main()

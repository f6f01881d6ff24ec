"""Compiles the CUDA C++ whose PTX is kept in the repository; tests say when that is due.

python scripts/make_ptx.py          # write what changed
python scripts/make_ptx.py --check  # fail where something would change
"""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from burnish import settings
from burnish.toolchain.discover import find_one

ROOT = Path(__file__).parents[1]
OWN = Path("src/burnish/devices/kernels.cu")
FOLDERS = {"tests/gpu/kernels": "compute_90", "tests/helpers/hostile": "compute_80"}
KEPT = {OWN: "compute_75"} | {
    path.relative_to(ROOT): arch
    for folder, arch in FOLDERS.items()
    for path in sorted((ROOT / folder).glob("*.cu"))
}
OWN_HEAD = """\
// kernels.cu, compiled by nvcc (-arch=compute_75 -ptx). It holds nothing that PTX 7.0 and sm_70
// lack, so they are what it asks for: every driver that Burnish works with can load it.

.version 7.0
.target sm_70
"""


def compiled(source: Path, arch: str) -> str:
    """The PTX of a file."""
    nvcc = find_one(settings.load(), "nvcc")
    if nvcc is None:
        sys.exit("nvcc was not found; try: pip install 'burnish[cuda]'")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "k.ptx")
        argv = [str(nvcc.path), f"-arch={arch}", "-ptx", str(ROOT / source), "-o", str(out)]
        subprocess.run(argv, check=True)
        text = out.read_text()
    return text if source != OWN else OWN_HEAD + text[text.index(".address_size") :]


def code_of(text: str) -> str:
    """Without comments and without hashes of the file's path: neither is a difference."""
    return re.sub(r"(?<=_)[0-9a-f]{8}(?=_)", "", re.sub(r"//[^\n]*", "", text)).strip()


def main() -> int:
    """Write or compare; the number of files that differ, with --check."""
    stale = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = dict(zip(KEPT, pool.map(compiled, KEPT, KEPT.values()), strict=True))
    for source, text in texts.items():
        kept = (ROOT / source).with_suffix(".ptx")
        if kept.exists() and code_of(kept.read_text()) == code_of(text):
            continue
        stale += 1
        print(f"{kept.relative_to(ROOT)}: {'out of date' if '--check' in sys.argv else 'written'}")
        if "--check" not in sys.argv:
            kept.write_text(text)
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

"""What a machine without a package index needs to test on its card, in one folder.

    python scripts/carry.py pack build/carry --python 3.12 --ptxas 13.3.73
    python scripts/carry.py unpack build/carry build/gpu  # `make gpu WHEELS=build/carry` does so

The folder holds wheels of what Burnish needs at run time, compressed ptxas programs, and the PTX of
the example kernels, so that nvcc is not needed.
"""

import argparse
import lzma
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree

from burnish import settings
from burnish.errors import BurnishError
from burnish.model.toolchain import Tool
from burnish.toolchain.added import add
from burnish.toolchain.discover import find_one
from burnish.toolchain.nvcc import translate

ROOT = Path(__file__).parents[1]
# Without the compilers: they are what is large. numpy is on every machine with a card that counts.
PACKAGES = ("moocore", "pydantic", "sqlalchemy", "typer", "rich", "cuda-bindings>=13.0,<13.1")
ON_MOST = ("numpy", "cuda_bindings", "cuda_pathfinder", "rich", "pygments", "markdown_it_py")
GLIBCS = ("1", "2014", "_2_17", "_2_24", "_2_26", "_2_27", "_2_28", "_2_31", "_2_34")
PLATFORMS = tuple(f"manylinux{glibc}_x86_64" for glibc in GLIBCS)
MIB = 1 << 20


def main() -> int:
    """Pack or unpack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--python", default="3.12", help="Python's version there")
    packing.add_argument("--ptxas", action="append", default=[], help="one more version")
    packing.add_argument("--without", action="append", default=[*ON_MOST], help="a package there")
    packing.add_argument("--arch", default="sm_90a")
    packing.add_argument("--limit-mib", type=int, default=60)
    unpacking = verbs.add_parser("unpack")
    unpacking.add_argument("folder", type=Path)
    unpacking.add_argument("site", type=Path)
    said = parser.parse_args()
    return pack(said) if said.verb == "pack" else unpack(said.folder, said.site)


def pack(said: argparse.Namespace) -> int:
    """Fill the folder; 1 where it is too large."""
    folder: Path = said.folder
    folder.mkdir(parents=True, exist_ok=True)
    wheels(folder, said.python, {name.replace("-", "_").lower() for name in said.without})
    versions = [program(None), *map(program, said.ptxas)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda tool: compress(tool, folder), versions))
    kernels(folder, said.arch)
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    for path, size in sorted(sizes.items()):
        print(f"{size / MIB:8.2f} MiB  {path.relative_to(folder)}")
    total = sum(sizes.values()) / MIB
    print(f"{total:8.2f} MiB  in all")
    return int(total > said.limit_mib)


def wheels(folder: Path, python: str, without: set[str]) -> None:
    """Download what Burnish needs, and build its own wheel for the name and version."""
    for old in folder.glob("*.whl"):
        old.unlink()
    where = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp"]
    where += [word for platform in PLATFORMS for word in ("--platform", platform)]
    pip(["download", *where, "--dest", str(folder), *PACKAGES])
    for wheel in folder.glob("*.whl"):
        if wheel.name.partition("-")[0].lower() in without:
            wheel.unlink()
    pip(["wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT)])


def pip(words: list[str]) -> None:
    """Run pip, quietly."""
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", words[0], *quiet, *words[1:]], check=True)


def program(version: str | None) -> Tool:
    """The preferred ptxas, or a version that is added."""
    if version:
        return add(f"ptxas=={version}", settings.load())
    tool = find_one(settings.load(), "ptxas")
    if tool is None:
        raise SystemExit("no ptxas was found; try: pip install 'burnish[cuda]'")
    return tool


def compress(tool: Tool, folder: Path) -> None:
    """Compress a program, once."""
    target = folder / f"ptxas-{tool.version}.xz"
    if not target.exists():
        target.write_bytes(lzma.compress(tool.path.read_bytes(), preset=6))


def kernels(folder: Path, arch: str) -> None:
    """Compile the example kernels to PTX."""
    nvcc = find_one(settings.load(), "nvcc")
    if nvcc is None:
        raise SystemExit("no nvcc was found; try: pip install 'burnish[cuda]'")
    target = folder / "kernels"
    target.mkdir(exist_ok=True)
    for source in sorted((ROOT / "examples" / "kernels").glob("*.cu")):
        made = translate(nvcc, source, ["-O3"], arch, folder=folder)
        (target / f"{source.stem}.ptx").write_text(made.ptx)


def unpack(folder: Path, site: Path) -> int:
    """Install the wheels and put the programs where Burnish looks for added ones."""
    found = [str(path) for path in sorted(folder.glob("*.whl"))]
    alone = ["--no-index", "--no-deps", "--no-compile", "--upgrade"]
    pip(["install", *alone, "--target", str(site), *found])
    # Its metadata stays; the code is that of the working tree, never an older copy.
    rmtree(site / "burnish", ignore_errors=True)
    for path in sorted(folder.glob("ptxas-*.xz")):
        place = site / "cache" / "toolchains" / path.stem
        place.mkdir(parents=True, exist_ok=True)
        target = place / "ptxas"
        if not target.exists():
            target.write_bytes(lzma.decompress(path.read_bytes()))
            target.chmod(0o755)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BurnishError as error:
        sys.exit(str(error))

"""Runs the shims' Python in a process of its own, with nothing of the caller's environment."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from burnish.acf.model import Acf, Evidence, Tuned, TunedCode
from burnish.acf.write import save
from burnish.model.verdict import Outcome
from burnish.ptx.digest import entry_digest
from burnish.ptx.module import parse

__all__ = ["EVIDENCE", "PTX", "Bench", "tuned_block"]

SOURCE = Path(__file__).parents[2] / "src"
EVIDENCE = Evidence(Outcome.BETTER, "registers", 40, 32)
_START = """\
import sys
sys.path.append({source!r})
from burnish.apply import build, ptxas
from burnish.toolchain.process import Limits
build.LIMITS = Limits(wall_s={wall_s}, output_bytes=1 << 20)
sys.exit(ptxas.main(sys.argv[1:]))
"""
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry add(.param .u64 p) { .reg .b64 %rd<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2]; add.f32 %f2, %f1, 0f3F800000; st.global.f32 [%rd2], %f2; ret; }
.visible .entry mul(.param .u64 p) { .reg .b64 %rd<3>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2]; mul.f32 %f2, %f1, 0f40000000; st.global.f32 [%rd2], %f2; ret; }
"""


@dataclass(frozen=True)
class Bench:
    """A folder to build in.

    Attributes:
        folder: Working folder of every command.
        environment: Its whole environment.
    """

    folder: Path
    environment: dict[str, str]

    @staticmethod
    def make(folder: Path, **environment: str) -> "Bench":
        """Make one, with folders for home, temporary files and cache."""
        for name in ("work", "tmp", "home"):
            (folder / name).mkdir()
        standard = {
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            "PATH": "/usr/bin:/bin",
        }
        return Bench(folder / "work", {**standard, **environment})

    def burnish(
        self, *argv: str, wall_s: float = 60.0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run ``burnish ptxas`` with these arguments."""
        start = _START.format(source=str(SOURCE), wall_s=wall_s)
        return self.run(sys.executable, "-I", "-S", "-c", start, *argv, **environment)

    def run(self, *argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program."""
        return subprocess.run(
            argv,
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def leftovers(self) -> list[str]:
        """What commands left in the folder for temporary files."""
        return [path.name for path in Path(self.environment["TMPDIR"]).iterdir()]

    def acf(self, name: str, *blocks: Tuned, strict: bool = False) -> str:
        """Write an ACF; returns its name."""
        save(Acf(blocks, strict), self.folder / name)
        return name


def tuned_block(entry: str, code: TunedCode, ptx: str = PTX, arch: str = "sm_90") -> Tuned:
    """A block for a plain build by ptxas 13.5.37 without options."""
    key = entry_digest(parse(ptx), entry)
    return Tuned(key, entry, arch, "ptxas 13.5.37", (), code, evidence=EVIDENCE)

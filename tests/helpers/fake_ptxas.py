"""A scripted ptxas: does per call what a test says, and answers questions like a real one.

    fake = install(folder, real=tool.path)         # behaves as the real one
    fake.when("--maxrregcount=32", hang())         # but hangs on such a command line
    fake.on_call(3, refuse("out of luck"))         # and refuses the third compile

Rules are looked through from the last to the first; a behaviour is a piece of shell, and those of
this file can be put together: ``after_ms(50, advise("…", then=pass_through()))``.
"""

import os
import struct
from dataclasses import dataclass, field
from pathlib import Path

from burnish.model.toolchain import Tool
from burnish.toolchain.ptxas_options import PTXAS

__all__ = [
    "CUBIN",
    "Fake",
    "advise",
    "after_ms",
    "alive",
    "crash",
    "flood",
    "hang",
    "install",
    "leave_child",
    "pass_through",
    "refuse",
    "write",
    "write_half",
]

_FIRST_IN = {  # version in which an option first was in the help text; else it always was
    (12, 5): {"compiler-annotations", "make-errors-visible-at-exit"},
    (12, 6): {"device-stack-protector"},
    (12, 8): {"g-tensor-memory-access-check", "split-compile"},
    (12, 9): {"Ofast-compile"},
    (13, 0): {
        "gno-tensor-memory-access-check",
        "list-version",
        "sanitize",
        "suppress-sparse-mma-advisory-info",
    },
    (13, 1): {"jobserver", "list-arch"},
    (13, 2): {"verbose2"},
    (13, 3): {"apply-controls", "enable-func-clone-sc"},
    (13, 5): {"gno-fabric-access-check", "suppress-position-independent-code-warning"},
}
_PROGRAM = """#!/bin/sh
# A fake ptxas for tests.
here='{here}'
real='{real}'
mark='{mark}'
case "$1" in
  --version|-V) cat "$here/version"; exit 0;;
  --help|-h) cat "$here/help"; exit 0;;
esac
echo "$*" >> "$here/calls"
call=$(wc -l < "$here/calls")
out=elf.o
take=
for word in "$@"; do
  [ -n "$take" ] && out=$word
  take=
  case "$word" in
    -o|--output-file) take=yes;;
    -o=*|--output-file=*) out=${{word#*=}};;
  esac
done
. "$here/script"
"""


def _tiny_elf() -> bytes:
    """The smallest file that is whole: a header and one empty section."""
    kind = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack("<16xHHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64, 0, 64, 56, 0, 64, 1, 0)
    return kind + header[16:] + bytes(64)


CUBIN = _tiny_elf()


@dataclass
class Fake:
    """An installed fake.

    Attributes:
        folder: Holds everything of it.
        tool: It, as a toolchain has it.
        mark: In the command line of every process that it leaves behind.
    """

    folder: Path
    tool: Tool
    mark: str
    _rules: list[str] = field(default_factory=list)

    def when(self, words: str, behaviour: str) -> None:
        """Behave so on each command line that holds these words."""
        self._add(f"case \"$*\" in *'{words}'*) {behaviour}; exit 0;; esac")

    def on_call(self, number: int, behaviour: str) -> None:
        """Behave so on the compile of this number, from 1."""
        self._add(f'if [ "$call" -eq {number} ]; then {behaviour}; exit 0; fi')

    def always(self, behaviour: str) -> None:
        """Behave so from now on; earlier rules are forgotten."""
        self._rules.clear()
        self._add(f"{behaviour}; exit 0")

    def calls(self) -> list[str]:
        """The command lines that it was started with, questions left out."""
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def _add(self, rule: str) -> None:
        self._rules.insert(0, rule)
        beside = self.folder / ".script"
        beside.write_text("\n".join(self._rules) + "\n")
        beside.replace(self.folder / "script")


def install(folder: Path, real: Path | None = None, version: str = "13.5.37") -> Fake:
    """Install a fake, ``folder/ptxas``; without a real one it writes `CUBIN`."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = f"3600.{os.getpid()}{abs(hash(folder)) % 10**9}"  # an argument of sleep
    path = folder / "ptxas"
    text = _PROGRAM.format(here=folder, real=real or "", mark=mark)
    beside = folder / ".ptxas"
    beside.write_text(text)
    beside.chmod(0o755)
    beside.replace(path)
    (folder / "version").write_text(_version_text(version))
    (folder / "help").write_text(_help_text(version))
    (folder / "cubin").write_bytes(CUBIN)
    tool = Tool("ptxas", version, path, f"fake-{mark}", "a fake")
    fake = Fake(folder, tool, mark)
    fake.always(pass_through() if real else 'cp "$here/cubin" "$out"')
    return fake


def alive(fake: Fake) -> list[int]:
    """Processes that the fake left behind."""
    pids = [folder.name for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [int(pid) for pid in pids if _is(fake, pid)]


def pass_through() -> str:
    """Do what the real one does."""
    return '"$real" "$@" || exit $?'


def hang() -> str:
    """Never end."""
    return 'exec sleep "$mark"'


def leave_child(how: str = "sleep", *, parent: str = "exit 0") -> str:
    """Start a child that hangs.

    Args:
        how: ``sleep``: in the group. ``setsid sleep``: outside of it. ``env -i setsid sleep``:
            without a trace in its environment too.
        parent: What the fake itself does next.
    """
    return f'{how} "$mark" & {parent}'


def flood(size: int = 1 << 30) -> str:
    """Print more than anybody wants."""
    return f"head -c {size} /dev/zero"


def crash(name: str = "SEGV") -> str:
    """End by a signal."""
    return f"kill -{name} $$; sleep 1"


def refuse(message: str, code: int = 255) -> str:
    """Say no as ptxas does."""
    return f"echo 'ptxas fatal   : {message}' >&2; exit {code}"


def write(path: Path) -> str:
    """Write the content of a file as the cubin."""
    return f"cp '{path}' \"$out\""


def write_half(size: int = 40, *, then: str = "exit 0") -> str:
    """Write the beginning of a cubin, then end: ``exit 0`` or ``kill -9 $$``."""
    return f'head -c {size} "$here/cubin" > "$out"; {then}'


def after_ms(wait_ms: int, then: str) -> str:
    """Do something later."""
    return f"sleep {wait_ms / 1000}; {then}"


def advise(message: str, then: str) -> str:
    """Print an advisory, and go on."""
    return f"echo 'ptxas info    : {message}' >&2; {then}"


def _is(fake: Fake, pid: str) -> bool:
    try:
        return fake.mark.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _version_text(version: str) -> str:
    major, minor = version.split(".")[:2]
    return (
        "ptxas: NVIDIA (R) Ptx optimizing assembler\n"
        "Copyright (c) 2005-2026 NVIDIA Corporation\n"
        f"Cuda compilation tools, release {major}.{minor}, V{version}\n"
        f"Build cuda_{major}.{minor}.r{major}.{minor}/compiler.0_0\n"
    )


def _help_text(version: str) -> str:
    major, minor = map(int, version.split(".")[:2])
    later = {name for first, names in _FIRST_IN.items() if first > (major, minor) for name in names}
    archs = ["sm_75", "sm_80", "sm_90", "sm_90a", *(["sm_100"] if (major, minor) > (12, 6) else [])]
    values = ",".join(f"'{arch}'" for arch in archs)
    lines = ["Usage  : ptxas [options] <ptx file>,...", "", "Options", "=======", ""]
    for option in PTXAS:
        if option.name not in later:
            lines += [f"--{option.name:<49}(-{option.short})", "        What it does."]
        if option.name == "gpu-name":
            lines += [f"        Allowed values for this option:  {values}."]
    return "\n".join([*lines, ""])

"""The texts of the shims: POSIX shell, which decides in a millisecond whether Python is needed."""

import shlex
import sys
from pathlib import Path

import burnish

__all__ = ["MARK", "ptxas_script", "triton_script"]

MARK = "# burnish shim"

# Nothing to apply is the usual case, so that it is decided before anything is started. A process
# keeps its number over exec: who meets its own number here was sent in a circle.
_PTXAS = """\
#!/bin/sh
{mark}: the real ptxas, with tuned code where --apply-controls or BURNISH_SHELF names it.
# Written by: burnish shims
real={real}
python={python}
[ "${{BURNISH_SHIM_PID:-}}" = "$$" ] || real=${{BURNISH_PTXAS:-$real}}
BURNISH_SHIM_PID=$$
export BURNISH_SHIM_PID
needed=${{BURNISH_SHELF:-}}
look() {{
  case $1 in
    *,*) needed=1 ;;
    *) grep -q -e -apply-controls -e -optf -e -options-file -- "$1" 2>/dev/null && needed=1 ;;
  esac
}}
is_file=
for word do
  if [ -n "$is_file" ]; then
    is_file=
    look "$word"
    continue
  fi
  case $word in
    --options-file | -optf) is_file=1 ;;
    --options-file=* | -optf=*) look "${{word#*=}}" ;;
    --apply-controls* | -apply-controls* | --strict-controls | --allow | --allow=*) needed=1 ;;
  esac
done
[ -n "$needed" ] || exec "$real" "$@"
if [ ! -x "$python" ]; then
  echo "burnish: $python is gone, write the shims again; building plain" >&2
  exec "$real" "$@"
fi
BURNISH_PTXAS=$real
export BURNISH_PTXAS
{special}cache=${{BURNISH_CACHE:-${{XDG_CACHE_HOME:-${{HOME:-}}/.cache}}/burnish}}
exec "$python" -I -S -c {start} "$real" "${{BURNISH_SHELF:-}}" "${{BURNISH_ALLOW:-}}" \\
  "${{BURNISH_STRICT:-}}" "$cache" -- "$@"
"""

_TRITON = """\
if [ "$#:$1" = 1:--version ]; then
  exec "$python" -I -S -c {start}
fi
"""

_START = """\
import sys
sys.path.append({source!r})
from burnish.apply.{module} import main
sys.exit(main(sys.argv[1:]))
"""


def ptxas_script(real: Path) -> str:
    """A shim for a real ptxas."""
    return _script(real, "")


def triton_script(real: Path) -> str:
    """A shim for Triton, whose cache knows a ptxas by its ``--version`` text only."""
    return _script(real, _TRITON.format(start=_start("version")))


def _script(real: Path, special: str) -> str:
    return _PTXAS.format(
        mark=MARK,
        real=shlex.quote(str(real)),
        python=shlex.quote(sys.executable),
        special=special,
        start=_start("again"),
    )


def _start(module: str) -> str:
    # At the end of the path: the standard library is found first, without a look at packages.
    source = str(Path(burnish.__file__).parent.parent)
    return shlex.quote(_START.format(source=source, module=module))

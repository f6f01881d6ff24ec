#!/bin/sh
# The main job on real kernels, without a GPU.
#
# 1. n-body on this machine's processor: gcc's decisions are tuned for run time, the answers are
#    checked bit by bit, the gain is confirmed in fresh processes, and a program is built with it.
# 2. A lattice Boltzmann step in PTX, whose plain build uses more registers than it needs: ptxas's
#    decisions are tuned for registers, and a build through the shims gives the tuned binary.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
store="sqlite:///$out/studies.sqlite"

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say burnish tune nbody.c --launch nbody.toml --budget 20s --store "$store" -o "$out/nbody.acf"
say burnish show "$out/nbody.acf"
say burnish cc -O3 -c nbody.c -o "$out/nbody.o" --apply-controls "$out/nbody.acf" --strict-controls

say burnish tune lattice_boltzmann.ptx --device none --minimize registers --limit spills=0 \
  --evaluations 100 --store "$store" -o "$out/lattice_boltzmann.acf" --json "$out/result.json"
say burnish shims "$out/shims"
PATH="$out/shims:$PATH"
# The build calls ptxas as ever; the shim applies the ACF.
say ptxas -v -arch=sm_90a --apply-controls "$out/lattice_boltzmann.acf" lattice_boltzmann.ptx \
  -o "$out/tuned.cubin"
say burnish show "$out/tuned.cubin" --json "$out/built.json"

python - "$out/result.json" "$out/built.json" <<'PYTHON'
import json, sys
result, built = (json.load(open(path)) for path in sys.argv[1:])
tuned, found = result["digests"]["tuned"], built["entries"][0]["digest"]
assert tuned == found, f"the build gave {found}, the study {tuned}"
before, after = result["baseline"]["registers"], result["tuned"]["registers"]
print(f"\nThe build's binary is the tuned trial's: {found[:16]}…  ({before:.0f} → {after:.0f} registers)")
PYTHON

#!/bin/sh
# The main job on a real kernel, without a GPU: tune, write the ACF, build with it.
# A lattice Boltzmann step (examples/lattice_boltzmann.cu), whose plain build uses more registers
# than it needs: fewer registers, no spills.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

say() { printf '\n\033[1m$ %s\033[0m\n' "$*"; "$@"; }

say burnish tune lattice_boltzmann.ptx --device none --minimize registers --limit spills=0 \
  --evaluations 150 --store "sqlite:///$out/studies.sqlite" -o "$out/lattice_boltzmann.acf" \
  --json "$out/result.json"

say burnish show "$out/lattice_boltzmann.acf"

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

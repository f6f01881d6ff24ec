#!/usr/bin/env bash
# Installs, as root, what tests need and no Python package brings. Safe to run twice.
set -euo pipefail

wanted=(gcc make)
missing=()
for program in "${wanted[@]}"; do
  command -v "$program" >/dev/null || missing+=("$program")
done
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ "${#missing[@]}" -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

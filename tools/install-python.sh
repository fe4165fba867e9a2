#!/usr/bin/env bash
# install-python.sh - puts the Python packages that tests compare tabi with into build/venv.
#
# Does nothing where they are there.  Where they cannot be had the tests that need them are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

venv=build/venv
packages=(pin)

"$venv/bin/python" -c 'import numpy, pinocchio' 2>/dev/null && exit 0
mkdir -p build
if ! python3 -m venv "$venv" >/dev/null || ! "$venv/bin/pip" install -q "${packages[@]}" >/dev/null; then
  rm -rf "$venv"
  echo "tabi: no Python packages (${packages[*]}); tests that compare with them are skipped" >&2
fi
exit 0

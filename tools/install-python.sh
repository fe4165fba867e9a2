#!/usr/bin/env bash
# install-python.sh - puts the Python packages that tests compare tabi with into build/venv.
#
# Does nothing where they are there.  Where one cannot be had the tests that need it are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

venv=build/venv
packages=(pin mujoco)

"$venv/bin/python" -c 'import numpy, pinocchio, mujoco' 2>/dev/null && exit 0
mkdir -p build
python3 -m venv "$venv" >/dev/null
for package in "${packages[@]}"; do
  "$venv/bin/pip" install -q "$package" >/dev/null ||
    echo "tabi: no Python package $package; tests that compare with it are skipped" >&2
done
exit 0

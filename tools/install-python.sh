#!/usr/bin/env bash
# install-python.sh - makes build/venv: what the tests of the Python package need, and the packages that tests
# compare tabi with.
#
# Does nothing where they are there.  Where one cannot be had the tests that need it are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

venv=build/venv
packages=(numpy pytest pandas matplotlib gymnasium scikit-build-core pin mujoco mypy distributed h5py)

"$venv/bin/python" - 2>/dev/null <<'END' && exit 0
import numpy, pytest, pandas, matplotlib, gymnasium, scikit_build_core, pinocchio, mujoco, mypy, distributed, h5py
END
mkdir -p build
python3 -m venv "$venv" >/dev/null
"$venv/bin/pip" install -q "${packages[@]}" >/dev/null 2>&1 && exit 0
# one at a time, so that one that cannot be had does not keep the others away
for package in "${packages[@]}"; do
  "$venv/bin/pip" install -q "$package" >/dev/null ||
    echo "tabi: no Python package $package; tests that need it are skipped" >&2
done
exit 0

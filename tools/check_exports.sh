#!/usr/bin/env bash
# check_exports.sh BUILD_DIR - the shared libraries export tabi_* only; the static ones have no
# global names but tabi_* and tbi_*.
set -euo pipefail

build=$1
status=0

# names LIBRARY PATTERN NM_OPTION... - complains of every global name that does not match
names() {
  local library=$1 pattern=$2
  shift 2
  local found strays
  found=$(nm --defined-only --format=posix "$@" "$library" | awk 'NF >= 3 { print $1 }')
  strays=$(grep -Ev "$pattern" <<<"$found" || true)
  if [ -z "$found" ]; then
    echo "$library: error: no global names at all" >&2
    status=1
  fi
  if [ -n "$strays" ]; then
    sed "s|^|$library: error: stray global name: |" <<<"$strays" >&2
    status=1
  fi
}

for name in tabi tabi-io; do
  shared=$(find "$build" -name "lib$name.so" | head -n 1)
  static=$(find "$build" -name "lib$name.a" | head -n 1)
  names "${shared:?lib$name.so is not built}" '^tabi_' --dynamic
  names "${static:?lib$name.a is not built}" '^(tabi|tbi)_' --extern-only
done
exit $status

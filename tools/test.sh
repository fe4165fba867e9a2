#!/usr/bin/env bash
# test.sh [PRESET...] - configures, builds and tests each preset (default: dev and clang), compares
# their bits, and says how many tests ran and how many were skipped.  With TABI_NO_SKIPS=1 a skipped
# test is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs=$(nproc)
presets=("$@")
[ $# -gt 0 ] || presets=(dev clang)
status=0
summary=()
commands=()

# the number in an attribute of the first line of a JUnit report
attribute() { sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

for preset in "${presets[@]}"; do
  echo "== $preset: build"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" --parallel "$jobs"

  echo "== $preset: test"
  report=$PWD/build/$preset/tests.xml
  rm -f "$report"
  ctest --preset "$preset" --parallel "$jobs" --no-tests=error --output-junit "$report" || status=1

  commands+=("build/$preset/tabi")
  # cmocka says OK for each, Python's unittest how many at the end
  cases=$(awk '/^\[       OK \]/ { n++ } /^Ran [0-9]+ tests? in/ { n += $2 } END { print n + 0 }' \
    "build/$preset/Testing/Temporary/LastTest.log")
  skipped=$(attribute "$report" skipped)
  summary+=("$preset: $(attribute "$report" tests) tests ($cases cases)," \
    "$(attribute "$report" failures) failed, $skipped skipped")
  if [ "$skipped" -gt 0 ] && [ "${TABI_NO_SKIPS:-0}" = 1 ]; then
    echo "test.sh: skipped tests are not allowed here" >&2
    status=1
  fi
done

[ ${#commands[@]} -lt 2 ] || tools/check_bits.sh "${commands[@]}" || status=1
printf '%s %s\n' "${summary[@]}"
exit $status

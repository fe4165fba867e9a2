#!/bin/sh
# run.sh PROGRAM [ARGUMENT...] - runs a test for ctest and gives 0 (passed), 77 (a case was
# skipped, none failed) or 1.  ctest's own SKIP_REGULAR_EXPRESSION would call a program with one
# skipped and one failed case skipped.
set -u

output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
timeout -k 5 280 "$@" >"$output" 2>&1
status=$?
cat "$output"

if [ $status -eq 77 ]; then exit 77; fi
if [ $status -ne 0 ]; then
  echo "run.sh: exit status $status"
  exit 1
fi
if grep -q '^\[  SKIPPED \]' "$output"; then exit 77; fi

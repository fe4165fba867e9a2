#!/usr/bin/env bash
# fuzz.sh TARGET [SECONDS] - runs a libFuzzer target on its committed corpus; what it finds on the
# way is not kept, a crash is written to build/fuzz/crashes.  An input counts as a hang after 20 s:
# the slowest take 1 s of a processor with sanitizers, and other work may share it.  The inputs are
# the same ones every time (more of them on a fast machine), so that what has passed passes again;
# TABI_FUZZ_SEED=0 asks for others.
set -euo pipefail

target=$1
seconds=${2:-${fuzz_share:-60}}
root=$(cd "$(dirname "$0")/.." && pwd)
name=$(basename "$target")
corpus=$root/tests/fuzz/corpus/${name#fuzz_}
crashes=$root/build/fuzz/crashes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$crashes" "$work/found"
folders=("$work/found")
if [ -d "$corpus" ]; then folders+=("$corpus"); fi
if ! "$target" -seed="${TABI_FUZZ_SEED:-1}" -max_total_time="$seconds" -timeout=20 \
  -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 -artifact_prefix="$crashes/$name-" \
  "${folders[@]}" >"$work/log" 2>&1; then
  cat "$work/log"
  echo "$name: failed; see $crashes" >&2
  exit 1
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")
echo "$name: $runs runs in $seconds s"

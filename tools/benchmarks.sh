#!/usr/bin/env bash
# benchmarks.sh [--tables] - measures tabi beside other engines and writes docs/benchmarks.md anew.
#
# Builds the native preset with all peers whose libraries are there (tools/install-packages.sh bench
# brings them), runs the workload "engines" and the growth of cost with contacts, keeps what came
# out in docs/benchmarks.json, and makes from it the tables of docs/benchmarks.md and, with gnuplot,
# the chart docs/figures/benchmarks.svg.  --tables: from the JSON that is there.  Takes about an
# hour, on a machine that should do nothing else.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
json=docs/benchmarks.json

# the preset native, and then release for the scenes that have a goal
measure() {
  local raw preset
  raw=$(mktemp -d)
  trap 'rm -r "$raw"' RETURN
  for preset in native release; do
    cmake --preset "$preset" -DTABI_PEERS=ON >/dev/null
    cmake --build --preset "$preset" >&2
  done
  build/native/tabi bench engines contact/points{8,16,40,100,200,400,1000}/cone20 \
    --peers --count --json >"$raw/native"
  build/release/tabi bench engines/{stand,stand-rk4,walk,points40} \
    engines/{quadrupeds1,quadrupeds225,pile100,pile300,chain1000} --peers --json >"$raw/release"
  python3 tools/benchmarks.py keep "$raw/native" "$raw/release" "$json" "$(machine)" "$(compiler)"
}

machine() {
  local name
  name=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  echo "${name:-$(uname -m)}, $(nproc) processors, $(uname -s) $(uname -r | cut -d. -f1-2)"
}

compiler() {
  "$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' build/native/CMakeCache.txt)" --version | head -n 1
}

[ "${1:-}" = --tables ] || measure
python3 tools/benchmarks.py tables "$json" docs/benchmarks.md
if command -v gnuplot >/dev/null; then
  python3 tools/benchmarks.py chart "$json" | gnuplot >docs/figures/benchmarks.svg
else
  echo "tabi: no gnuplot, so the chart stays as it was" >&2
fi

#!/usr/bin/env bash
# benchmarks.sh [--again | --tables] - measures tabi beside other engines and writes docs/benchmarks.md.
#
# Builds the presets native and release with all peers whose libraries are there
# (tools/install-packages.sh bench brings them) and runs `tabi bench` scene by scene, all scenes with
# native, the rows that have a goal with release.  What a scene gave is kept in build/benchmarks, so that
# a run that was stopped goes on where it was: scenes are measured anew once tabi was built anew, or
# with --again.  docs/benchmarks.json gets all of it, and from it come the tables of
# docs/benchmarks.md and the chart docs/figures/benchmarks.svg; --tables makes only these.  Takes
# about a quarter of an hour, on a machine that should do nothing else.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
json=docs/benchmarks.json
raw=build/benchmarks
python=${PYTHON:-python3}
export PYTHONDONTWRITEBYTECODE=1

# instructions are counted here: by the processor's trap flag and by valgrind, which are slow
counted=' stand stand-rk4 walk points40 quadrupeds1 pile20 chain10 chain100 slope '

say() { printf 'tabi: %s\n' "$*" >&2; }

# run FILE COMMAND...: the command's output in the file, unless it is there and newer than tabi.  A
# scene that fails, or takes a quarter of an hour, leaves no file and does not end the rest.
run() {
  local file=$1 start=$SECONDS
  shift
  if [ -s "$file" ] && [ "$file" -nt "$tabi" ]; then return; fi
  if timeout 900 "$@" >"$file.new"; then
    mv "$file.new" "$file"
    say "${file#"$raw"/} after $((SECONDS - start)) s"
  else
    say "warning: ${file#"$raw"/} failed and is left out; the command was: $*"
    rm -f "$file.new"
  fi
}

# scenes PRESET, and by line from the input: NAME ROW...
scenes() {
  local preset=$1 name rows count
  tabi=build/$preset/tabi
  mkdir -p "$raw/$preset"
  while read -r name rows; do
    count=()
    if [ "$preset" = native ] && [[ $counted == *" $name "* ]]; then count=(--count); fi
    # shellcheck disable=SC2086  # names of rows, one word each
    run "$raw/$preset/$name.json" "$tabi" bench $rows --peers --json "${count[@]}" </dev/null
  done
  run "$raw/$preset/alone.json" "$tabi" bench --json contact/{stand,hullfeet,meshground}/cone
  run "$raw/$preset/growth.json" "$tabi" bench --json \
    contact/points{8,16,40,100,200,400,1000}/cone20
  run "$raw/$preset/commands.json" "$python" tools/benchmarks.py commands "$tabi" "$(extra)"
}

measure() {
  local preset
  [ "${1:-}" != --again ] || rm -rf "$raw"
  for preset in native release; do
    cmake --preset "$preset" -DTABI_PEERS=ON >/dev/null
    cmake --build --preset "$preset" --target tabi-cli tabi-peers >&2
  done
  mkdir -p "$raw"
  build/native/tabi bench --list engines | cut -d/ -f2 | uniq >"$raw/scenes"
  sed 's|.*|& engines/&|' "$raw/scenes" | scenes native
  "$python" tools/benchmarks.py goals | scenes release
  "$python" tools/benchmarks.py keep "$raw" "$json" "$(machine)" "$(compiler)"
}

machine() {
  local name
  name=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  echo "${name:-$(uname -m)}, $(nproc) processors, $(uname -s) $(uname -r | cut -d. -f1-2)"
}

compiler() {
  "$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' build/native/CMakeCache.txt)" --version | head -n 1
}

# where models that are not shipped may be
extra() { sed -n 's/^TABI_EXTRA_DATA:[A-Z]*=//p' build/native/CMakeCache.txt; }

[ "${1:-}" = --tables ] || measure "$@"
"$python" tools/benchmarks.py tables "$json" docs/benchmarks.md
"$python" tools/benchmarks_chart.py "$json" docs/figures/benchmarks.svg

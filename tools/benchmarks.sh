#!/usr/bin/env bash
# benchmarks.sh [--again | --tables] - measures tabi beside other engines and writes docs/benchmarks.md.
#
# Builds the presets native and release with all peers whose libraries are there
# (tools/install-packages.sh bench brings them) and runs `tabi bench` scene by scene, all scenes with
# native, the rows that have a goal with release.  MuJoCo is the system's; rows with a goal beside it
# are measured beside that of tools/install-python.sh, too.  What a scene gave is kept in
# build/benchmarks, so that a run that was stopped goes on where it was: scenes are measured anew once
# tabi was built anew, or with --again.  docs/benchmarks.json gets all of it, and from it come the
# tables of docs/benchmarks.md and the chart docs/figures/benchmarks.svg; --tables makes only these.
# Takes about a quarter of an hour, on a machine that should do nothing else.
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

# build PRESET WHEEL: the command and its peers; WHEEL is the folder of a MuJoCo, empty: the system's
build() {
  tabi=build/$1/tabi
  cmake --preset "$1" -DTABI_PEERS=ON "-DTABI_MUJOCO_WHEEL=$2" \
    -UMUJOCO_INCLUDE_DIR -UMUJOCO_LIBRARY >/dev/null
  cmake --build --preset "$1" --target tabi-cli tabi-peers >&2
}

# scenes FOLDER, and by line from the input: NAME ROW...
scenes() {
  local folder=$raw/$1 name rows count
  mkdir -p "$folder"
  while read -r name rows; do
    count=()
    if [ "$1" = native ] && [[ $counted == *" $name "* ]]; then count=(--count); fi
    # shellcheck disable=SC2086  # names of rows, one word each
    run "$folder/$name.json" "$tabi" bench $rows --peers --json "${count[@]}" </dev/null
  done
}

# what no peer has
alone() {
  local folder=$raw/$1
  run "$folder/alone.json" "$tabi" bench --json contact/{stand,hullfeet,meshground}/cone
  run "$folder/growth.json" "$tabi" bench --json \
    contact/points{8,16,40,100,200,400,1000}/cone20
  run "$folder/turn.json" "$tabi" bench --json turn
  run "$folder/commands.json" "$python" tools/benchmarks.py commands "$tabi" "$(extra)"
}

measure() {
  local wheel
  [ "${1:-}" != --again ] || rm -rf "$raw"
  mkdir -p "$raw"
  build native ""
  "$tabi" bench --list engines | cut -d/ -f2 | uniq >"$raw/scenes"
  sed 's|.*|& engines/&|' "$raw/scenes" | scenes native
  alone native
  wheel=$(echo build/venv/lib/python3*/site-packages/mujoco)
  if [ -d "$wheel" ]; then
    build native "$root/$wheel"
    "$python" tools/benchmarks.py goals mujoco | scenes newest
  fi
  build release ""
  "$python" tools/benchmarks.py goals | scenes release
  alone release
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

#!/usr/bin/env bash
# mutate.sh [RUNS [FOLDER [NAME...]]] - mutates files of every format that tabi reads, or of those
# named, RUNS times each (100000), and reads them; says how often.  The fuzz targets start from their
# own corpora and from files of their format up to 64 kB in FOLDER (../shared, if there).  A crash, a
# read of more than 2 s (MUTATE_SECONDS) or of more than 1 GB is written to build/fuzz/crashes, and
# the rest goes on.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

runs=${1:-100000}
folder=${2:-../shared}
names=("${@:3}")
seconds=${MUTATE_SECONDS:-2} # for one file; more on a busy machine
limit=64 # kB
crashes=build/fuzz/crashes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# what a target starts from beside its corpus
declare -A endings=(
  [urdf]='*.urdf' [sdf]='*.sdf *.world' [mjcf]='*.xml' [stl]='*.stl' [obj]='*.obj *.pgm'
  [ply]='*.ply' [dae]='*.dae' [gltf]='*.gltf *.glb' [scene]='*.yaml' [vrml]='*.wrl'
  [body]='*.body' [motion]='*.pos *.seq' [csv]='*.csv' [sidecar]='*.tabi.yaml' [record]='*.tabi'
  [friction]='*.dat' [state]='*.json'
)

# copies the seeds of a target, by their number, since names repeat
gather() {
  local pattern places=(models scenes tests) file count=0
  [ -d "$folder" ] && places+=("$folder")
  for pattern in ${endings[$1]:-}; do
    while IFS= read -r -d '' file; do
      cp "$file" "$work/$1/seeds/$((count += 1))"
    done < <(find -L "${places[@]}" -name "$pattern" -type f -size "-${limit}k" -print0 2>/dev/null)
  done
}

mutate() {
  local name=$1 corpus=tests/fuzz/corpus/$1 folders
  mkdir -p "$work/$name/found" "$work/$name/seeds" "$crashes"
  gather "$name"
  folders=("$work/$name/found" "$work/$name/seeds")
  [ -d "$corpus" ] && folders+=("$corpus")
  build/fuzz/fuzz_"$name" -runs="$runs" -timeout="$seconds" -rss_limit_mb=1024 \
    -malloc_limit_mb=1024 -max_len=65536 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="$crashes/fuzz_$name-" "${folders[@]}" >"$work/$name/log" 2>&1
}

failed=()
total=0
set -f # patterns of files are for find
if [ ${#names[@]} -eq 0 ]; then
  mapfile -t names < <(find build/fuzz -maxdepth 1 -name 'fuzz_*' | sed 's/.*fuzz_//' | sort)
fi
for name in "${names[@]}"; do
  mutate "$name" || {
    failed+=("$name")
    grep -m 3 -E 'ERROR|runtime error|SUMMARY' "$work/$name/log"
  }
  done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name/log")
  peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$work/$name/log")
  echo "$name: ${done:-0} files, ${peak:-?} MB"
  total=$((total + ${done:-0}))
done
echo "$total files in all"
if [ ${#failed[@]} -gt 0 ]; then
  echo "mutate.sh: failed: ${failed[*]}; see $crashes" >&2
  exit 1
fi

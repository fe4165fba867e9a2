#!/usr/bin/env bash
# check.sh [STEP...] - everything about the tree that a test cannot tell.  Runs all steps, or those
# named, even after one has failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

jobs=$(nproc)
fuzz_seconds=${TABI_FUZZ_SECONDS:-60} # for all targets together

check_format() {
  find include src cli bench reproduce viewer tests examples bindings -name node_modules -prune -o \
    \( -name '*.c' -o -name '*.h' \) -print0 |
    xargs -0 clang-format --dry-run -Werror --ferror-limit=1
}

check_layers() { tools/include_order.py; }

check_headers() { tools/check_headers.sh; }

check_docs() { tools/check_docs.py --self-test && tools/check_docs.py; }

check_page() { tools/check_page.sh; }

# what users get, without the tests
build_release() {
  cmake --preset release >/dev/null &&
    cmake --build --preset release --parallel "$jobs" \
      --target tabi tabi-static tabi-io tabi-io-static tabi-cli
}

check_exports() { build_release && tools/check_exports.sh build/release; }

# the tables of docs/reproduction.md are those of the command; verdicts on time do not count here
check_reproduction() {
  build_release || return 1
  local out=build/reproduction
  build/release/tabi reproduce all --quick --json --out "$out" >"$out.json" || [ $? -eq 5 ] ||
    return 1
  tools/reproduction.py check "$out.json"
}

check_install() { build_release && tools/check_install.sh build/release; }

# the compile commands of the clang build, since tidy speaks clang
check_tidy() {
  cmake --preset clang >/dev/null || return 1
  python3 -c 'import json; print(*(f["file"] for f in json.load(open(0))), sep="\0", end="\0")' \
    <build/clang/compile_commands.json | sort -zu |
    xargs -0 -n 1 -P "$jobs" clang-tidy -p build/clang --quiet 2>/dev/null
}

check_fuzz() {
  cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --parallel "$jobs" --target fuzz ||
    return 1
  local targets
  mapfile -t targets < <(find build/fuzz -type f -executable -name 'fuzz_*')
  if [ ${#targets[@]} -eq 0 ]; then
    echo "no fuzz targets in build/fuzz"
    return 1
  fi
  export fuzz_share=$((fuzz_seconds * jobs / ${#targets[@]} + 1))
  printf '%s\0' "${targets[@]}" | xargs -0 -n 1 -P "$jobs" tools/fuzz.sh
}

steps=("$@")
[ $# -gt 0 ] || steps=(format layers headers docs page exports reproduction install tidy fuzz)
failed=()
for step in "${steps[@]}"; do
  echo "== $step"
  start=$SECONDS
  "check_$step" || failed+=("$step")
  echo "   $((SECONDS - start)) s"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "check.sh: failed: ${failed[*]}" >&2
  exit 1
fi
echo "check.sh: all good"

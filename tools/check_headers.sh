#!/usr/bin/env bash
# check_headers.sh - each public header compiles alone and without warnings as C99, C17 and C++17.
set -euo pipefail
cd "$(dirname "$0")/.."

flags=(-Iinclude -Wall -Wextra -Wpedantic -Werror -fsyntax-only)
for header in include/tabi/*.h; do
  text="#include \"tabi/$(basename "$header")\"
        typedef int not_empty;"
  for compiler in gcc clang; do
    for standard in c99 c17; do
      echo "$text" | $compiler -std=$standard "${flags[@]}" -x c -
    done
    echo "$text" | $compiler -std=c++17 "${flags[@]}" -x c++ -
  done
done

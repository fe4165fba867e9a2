#!/usr/bin/env bash
# check_install.sh BUILD_DIR - installs into a temporary prefix, then builds and runs a consumer
# against it by find_package and by pkg-config, with the shared and the static libraries.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
consumer=$root/tests/install
robot=$prefix/share/tabi/models/humanoid36.urdf

cmake --install "$build" --prefix "$prefix" >/dev/null
lib=$(dirname "$(find "$prefix" -name libtabi.so | head -n 1)")

echo "-- the command"
"$prefix/bin/tabi" info "$robot" >/dev/null

echo "-- the license"
cmp "$root/LICENSE" "$prefix/share/doc/tabi/LICENSE"

echo "-- find_package"
cmake -S "$consumer" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/cmake" >/dev/null
"$work/cmake/consumer" "$robot"
"$work/cmake/consumer-static" "$robot"

echo "-- pkg-config"
export PKG_CONFIG_PATH=$lib/pkgconfig
read -ra shared <<<"$(pkg-config --cflags --libs tabi-io)"
read -ra static <<<"$(pkg-config --static --cflags --libs tabi-io)"
cc -std=c17 "$consumer/consumer.c" "${shared[@]}" -Wl,-rpath,"$lib" -o "$work/consumer"
"$work/consumer" "$robot"
rm "$lib"/*.so*
cc -std=c17 "$consumer/consumer.c" "${static[@]}" -o "$work/consumer-static"
"$work/consumer-static" "$robot"

echo "-- uninstall"
cmake --install "$build" --prefix "$work/again" >/dev/null
cmake --build "$build" --target uninstall >/dev/null
left=$(find "$work/again" -type f -o -type l -o -path '*/tabi' | head -n 5)
[ -z "$left" ] || { echo "uninstall left $left" >&2; exit 1; }

echo "-- packages without root"
# a machine with all that is needed but no gnuplot, where nobody may install
mkdir "$work/bin"
for command in bash cat sed id env make gcc cmake ninja pkg-config; do
  ln -s "$(command -v "$command")" "$work/bin/$command"
done
printf '#!/bin/sh\necho 1000\n' >"$work/id"
chmod +x "$work/id"
ln -sf "$work/id" "$work/bin/id"
printf '#!/bin/sh\nexit 100\n' >"$work/bin/apt-get"
chmod +x "$work/bin/apt-get"
PATH=$work/bin "$root/tools/install-packages.sh" demo 2>"$work/said"
grep -q 'going on without gnuplot-nox' "$work/said"
rm "$work/bin/make"
! PATH=$work/bin "$root/tools/install-packages.sh" build demo 2>"$work/said"
grep -q 'please run as root: apt-get install' "$work/said"

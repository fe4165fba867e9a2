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

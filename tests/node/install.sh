#!/bin/sh
# install.sh FOLDER - puts the packages of package-lock.json into FOLDER/node_modules, once for each
# state of the lock.  Exit 77, a skip for ctest, where they cannot be had.
set -u

here=$(cd "$(dirname "$0")" && pwd)
folder=$1
stamp=$folder/node_modules/.installed
for command in node npm; do
  if ! command -v "$command" >/dev/null; then
    echo "$command not found (Debian: nodejs, npm)"
    exit 77
  fi
done
if cmp -s "$here/package-lock.json" "$stamp"; then exit 0; fi

mkdir -p "$folder" || exit 1
cp "$here/package.json" "$here/package-lock.json" "$folder" || exit 1
if ! (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund); then
  echo "npm cannot get the packages of tests/node/package.json"
  exit 77
fi
cp "$here/package-lock.json" "$stamp"

#!/bin/sh
# run.sh FOLDER COMMAND... - runs a test in Node, or skips it if FOLDER has no packages.
folder=$1
shift
if [ ! -e "$folder/node_modules/.installed" ]; then
  echo "no packages in $folder; the test node.packages says why"
  exit 77
fi
exec "$@"

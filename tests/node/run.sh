#!/bin/sh
# run.sh PACKAGES SCRIPT - runs a test in Node, or skips it if there are no packages.
if [ ! -e "$1/.installed" ]; then
  echo "no packages in $1; the test node.packages says why"
  exit 77
fi
exec node "$2"

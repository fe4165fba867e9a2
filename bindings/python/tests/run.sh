#!/bin/sh
# run.sh PACKAGE_FOLDER PRELOAD [PYTEST_ARGUMENT...] - runs pytest for ctest with the Python of build/venv, or
# with python3; 77 and the reason where NumPy or pytest is missing.  PRELOAD is a sanitizer's library, or "-".
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=$here/../../../build/venv/bin/python
[ -x "$python" ] || python=$(command -v python3) || { echo "skipped: no python3"; exit 77; }
package=$1
preload=$2
shift 2

if ! "$python" -c 'import sys, numpy, pytest; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "skipped: $python lacks NumPy or pytest, or is older than 3.11 (tools/install-python.sh)"
  exit 77
fi
export PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 TABI_CTEST=1 MPLBACKEND=Agg
if [ "$preload" != - ]; then
  # the interpreter's own allocations live until its end, and are none of ours
  export LD_PRELOAD="$preload" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
fi
cd "$here" || exit 1
exec "$python" -m pytest -q -rs -p no:cacheprovider "$@"

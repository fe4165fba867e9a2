#!/usr/bin/env bash
# check_page.sh - the viewer's page is what its sources give.  check_page.py tells by hashes; where
# there is Node, the page is also built anew, in a copy, and must have the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/check_page.py

# with addresses in them, packages could be had from one place only
if grep -H '"resolved"' viewer/page/package-lock.json tests/node/package-lock.json; then
  echo "package-lock.json: error: it names addresses;" \
    "cure: npm install --omit-lockfile-registry-resolved" >&2
  exit 1
fi

# an excuse, unless nothing may be skipped
not_built() {
  echo "check_page.sh: the page was not built anew: $1" >&2
  [ -z "${TABI_NO_SKIPS:-}" ]
  exit
}
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  not_built "node or npm not found (Debian: nodejs, npm)"
fi

find viewer/page tests -name node_modules -prune -o -name dist -prune -o \
  \( -name '*.js' -o -name '*.mjs' -o -name '*.cjs' \) -print0 | xargs -0 -n 1 node --check

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -C viewer/page --exclude=node_modules --exclude=dist -cf - . | tar -C "$copy" -xf -
cd "$copy"
npm ci --ignore-scripts --no-audit --no-fund --silent || not_built "npm cannot get its packages"
node --test test/*.test.mjs >tests.log || { cat tests.log; exit 1; }
npm run --silent build -- --logLevel warn
if ! cmp dist/index.html "$OLDPWD/viewer/page/dist/index.html"; then
  echo "viewer/page/dist/index.html: error: its sources build another page;" \
    "run \`npm ci && npm run build\` in viewer/page and commit it" >&2
  exit 1
fi

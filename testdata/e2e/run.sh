#!/bin/sh
# Runs the end-to-end suites against a freshly built binary.
#
#   testdata/e2e/run.sh                    all suites
#   testdata/e2e/run.sh wire.test.mjs ...  some of them
#
# BLUEPRINTD=/path/to/binary tests that one instead of building. Needs Node 20
# or newer, npm, curl, openssl and, the first time, the npm registry. Ends with
# the status of node --test, whose closing lines are the last output.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# node_modules is fresh when it was installed from exactly these files.
cd "$here"
wanted=$(cat package.json client10/package.json package-lock.json | cksum)
if [ "$(cat node_modules/.installed-from 2>/dev/null)" != "$wanted" ]; then
  npm ci --loglevel=error
  echo "$wanted" > node_modules/.installed-from
fi

if [ -z "${BLUEPRINTD:-}" ]; then
  (cd "$root" && CGO_ENABLED=0 go build -o "$work/blueprintd" .)
  BLUEPRINTD=$work/blueprintd
fi
export BLUEPRINTD

[ $# -gt 0 ] || set -- *.test.mjs
node --test --test-timeout=120000 --test-reporter=spec "$@"

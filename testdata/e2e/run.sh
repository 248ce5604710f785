#!/bin/sh
# Runs the end-to-end suites against a freshly built binary.
#
#   testdata/e2e/run.sh                    all suites
#   testdata/e2e/run.sh wire.test.mjs ...  some of them
#
# Those in mail/ need root and two programs that Debian has, swaks and postfix,
# which are installed by apt when they are missing; where that cannot be, these
# suites are left out, and that is said. `make e2e-mail` runs them alone.
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

left_out=
if [ $# -eq 0 ]; then
  set -- *.test.mjs
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && ! { command -v swaks && command -v postfix; } >/dev/null; then
    install="apt-get install -qq -y --no-install-recommends swaks libnet-ssleay-perl postfix"
    export DEBIAN_FRONTEND=noninteractive
    $install >/dev/null 2>&1 || { apt-get update -qq >/dev/null 2>&1 && $install >/dev/null 2>&1; } || true
  fi
  if command -v swaks >/dev/null && command -v postfix >/dev/null && [ "$(id -u)" -eq 0 ]; then
    set -- "$@" mail/*.test.mjs
  else
    left_out=1
  fi
fi
[ -z "$left_out" ] || echo "mail/ is left out: it needs root, swaks and postfix (make e2e-mail)" >&2
node --test --test-timeout=120000 --test-reporter=spec "$@"

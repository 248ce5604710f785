#!/bin/sh
# Checks that the committed web/dist equals a build of the sources, byte for byte.
# Files are compared unpacked, because versions of Node compress differently.
set -eu

cd "$(dirname -- "$0")/.."
scripts/install.sh
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
trap 'exit 1' HUP INT TERM

log=$built/log
# Runs `npm run build` in a copy, so that the committed files stay unchanged.
mkdir "$built/web"
tar cf - --exclude=./node_modules --exclude=./dist . | tar xf - -C "$built/web"
ln -s "$PWD/node_modules" "$built/web/node_modules"
(cd "$built/web" && npm run --silent build >"$log" 2>&1) || { cat "$log"; exit 1; }
cp -r dist "$built/committed"
find "$built/web/dist" "$built/committed" -name '*.gz' -exec gunzip {} +
if ! diff -rq "$built/web/dist" "$built/committed"; then
  echo "web/dist is not what web/ builds to" >&2
  echo "hint: run npm run build in web/ and commit web/dist" >&2
  exit 1
fi
echo "web/dist is what web/ builds to"

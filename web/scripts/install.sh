#!/bin/sh
# Installs the npm packages of web/, unless node_modules was installed from exactly these files.
set -eu

cd "$(dirname -- "$0")/.."
command -v npm >/dev/null || { echo "npm is missing" >&2; echo "hint: install Node 20.19 or newer" >&2; exit 1; }
wanted=$(cat package.json package-lock.json .npmrc | cksum)
[ "$(cat node_modules/.installed-from 2>/dev/null)" != "$wanted" ] || exit 0
npm ci --loglevel=error
echo "$wanted" > node_modules/.installed-from

#!/bin/sh
# Fills a folder with what the image of blueprintd holds; see Containerfile.
#
#   packaging/image.sh FOLDER [PROGRAM]
#
# PROGRAM is a static blueprintd for Linux, built from this source when it is not
# named. CA_BUNDLE=FILE takes other roots than this machine's. Ends with 1 and a
# hint when something is missing.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
folder=${1:?name a folder: packaging/image.sh dist/image}
program=${2:-}

bundle=${CA_BUNDLE:-/etc/ssl/certs/ca-certificates.crt}
if [ ! -s "$bundle" ]; then
  echo "$bundle is missing: without roots the program trusts no server" >&2
  echo "hint: apt-get install ca-certificates, or CA_BUNDLE=/path/to/roots.pem" >&2
  exit 1
fi

umask 022
rm -rf "$folder/root" "$folder/data"
mkdir -p "$folder/root/etc/ssl/certs" "$folder/root/tmp" "$folder/data"
chmod 1777 "$folder/root/tmp"
chmod 700 "$folder/data" # the database is nobody else's
if [ -z "$program" ]; then
  program=$folder/root/blueprintd
  target=$(cd "$folder/root" && pwd)/blueprintd
  (cd "$here/.." && CGO_ENABLED=0 GOOS=linux go build -trimpath -tags urfave_cli_no_docs -ldflags="-s -w${VERSION:+ -X main.version=$VERSION}" -o "$target" .)
else
  install -m 755 "$program" "$folder/root/blueprintd"
fi
chmod 755 "$folder/root/blueprintd"
install -m 644 "$bundle" "$folder/root/etc/ssl/certs/ca-certificates.crt"
install -m 644 "$here/../LICENSE" "$folder/root/LICENSE"

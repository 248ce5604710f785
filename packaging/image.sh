#!/bin/sh
# Fills a folder with the content of the image of blueprintd; see Containerfile.
#
#   packaging/image.sh FOLDER [PROGRAM]
#
# FOLDER is new, empty, or was filled by this script before. PROGRAM is a static
# blueprintd for Linux; by default it is built from this source, with GOARCH=arm64 for
# another processor than that of this machine. CA_BUNDLE=FILE
# replaces the CA certificates of this machine. If something is missing, it exits
# with 1 and a hint before it changes anything.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
folder=${1:?name a folder: packaging/image.sh dist/image}
program=${2:-}
mark=.blueprintd-image # marks a folder that the script may empty

refuse() {
  echo "$1" >&2
  echo "hint: $2" >&2
  exit 1
}

# number FILE OFFSET BYTES prints a little-endian number.
number() {
  value=0 factor=1
  for byte in $(od -An -v -tu1 -j"$2" -N"$3" "$1"); do
    value=$((value + byte * factor)) factor=$((factor * 256))
  done
  echo "$value"
}

# The image has no loader and no libraries, so another program would not start.
check_program() {
  static="CGO_ENABLED=0 GOOS=linux go build makes one; without PROGRAM it is built here"
  [ -f "$1" ] && [ -r "$1" ] || refuse "$1 is not a readable file" "$static"
  [ "$(od -An -v -tx1 -N6 "$1" | tr -d ' \n')" = 7f454c460201 ] || refuse "$1 is not a 64-bit program for Linux" "$static"
  at=$(number "$1" 32 8) size=$(number "$1" 54 2) count=$(number "$1" 56 2)
  while [ "$count" -gt 0 ]; do
    [ "$(number "$1" "$at" 4)" -ne 3 ] || refuse "$1 is not static: it needs a loader" "$static"
    at=$((at + size)) count=$((count - 1))
  done
}

bundle=${CA_BUNDLE:-/etc/ssl/certs/ca-certificates.crt}
[ -s "$bundle" ] || refuse "$bundle is missing: without CA certificates the program trusts no server" "apt-get install ca-certificates, or CA_BUNDLE=/path/to/roots.pem"
[ -z "$program" ] || check_program "$program"
if [ ! -d "$folder" ]; then
  [ ! -e "$folder" ] || refuse "$folder is not a folder" "packaging/image.sh dist/image"
elif [ ! -f "$folder/$mark" ] && [ -n "$(ls -A "$folder")" ]; then
  refuse "$folder contains other files, which would be lost" "name a new folder: packaging/image.sh dist/image"
fi

umask 022
mkdir -p "$folder"
: >"$folder/$mark"
folder=$(cd -- "$folder" && pwd)
new=$folder/.new # a failed build keeps the previous content
rm -rf "$new"
mkdir -p "$new/root/etc/ssl/certs" "$new/root/tmp" "$new/data"
chmod 1777 "$new/root/tmp"
chmod 700 "$new/data" # only the service reads the database
if [ -z "$program" ]; then
  (cd "$here/.." && CGO_ENABLED=0 GOOS=linux go build -trimpath -tags urfave_cli_no_docs -ldflags="-s -w${VERSION:+ -X main.version=$VERSION}" -o "$new/root/blueprintd" .)
else
  install -m 755 "$program" "$new/root/blueprintd"
fi
chmod 755 "$new/root/blueprintd"
install -m 644 "$bundle" "$new/root/etc/ssl/certs/ca-certificates.crt"
install -m 644 "$here/../LICENSE" "$new/root/LICENSE"
rm -rf "$folder/root" "$folder/data"
mv "$new/root" "$new/data" "$folder/"
rmdir "$new"

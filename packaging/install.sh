#!/bin/sh
# Installs the program of a release for this machine, or upgrades it:
#
#   sh install.sh --from URL --key FILE [--version VERSION] [--to FOLDER]
#
# URL is the address of the folder with the files of the release. FILE has the public key
# that signs releases, as ssh-keygen writes it; get it from another place than the release.
# VERSION refuses a release of any other version. FOLDER is /usr/local/bin by default.
#
# Nothing outside a temporary folder changes before the signature of SHA256SUMS and the
# checksum of the archive are verified. It needs ssh-keygen (OpenSSH 8.1 or newer), curl or
# wget, tar and gzip.
set -eu

refuse() {
  echo "install.sh: $1" >&2
  echo "hint: $2" >&2
  exit 1
}
usage="sh install.sh --from URL --key FILE [--version VERSION] [--to FOLDER]"

from='' key='' version='' to=/usr/local/bin
while [ $# -gt 0 ]; do
  case "$1" in
    --from | --key | --version | --to) [ $# -ge 2 ] || refuse "$1 needs a value" "$usage" ;;
    *) refuse "unknown argument $1" "$usage" ;;
  esac
  case "$1" in
    --from) from=${2%/} ;;
    --key) key=$2 ;;
    --version) version=$2 ;;
    --to) to=$2 ;;
  esac
  shift 2
done
[ -n "$from" ] || refuse "--from is missing" "$usage"
[ -n "$key" ] || refuse "--key is missing: without a key, nothing can be verified" "$usage"
[ -r "$key" ] || refuse "the file $key cannot be read" "name the file with the public key that signs releases"
[ -d "$to" ] || refuse "$to is not a folder" "mkdir -p $to, or name another folder with --to"
[ -w "$to" ] || refuse "$to is not writable for this user" "run the script as root, or name another folder with --to"

case "$(uname -s)" in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) refuse "there is no program for $(uname -s) that this script can install" "see the archives at $from" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) processor=amd64 ;;
  aarch64 | arm64) processor=arm64 ;;
  *) refuse "there is no program for the processor $(uname -m)" "build one from the sources: go build" ;;
esac

has() { command -v "$1" >/dev/null 2>&1; }
has ssh-keygen || refuse "ssh-keygen is missing: it verifies the signature" "install OpenSSH, such as with apt-get install openssh-client"
has curl || has wget || refuse "curl and wget are missing" "install one of them, such as with apt-get install curl"

work=$(mktemp -d)
trap 'rm -rf "$work" "$to/.blueprintd.new"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  if has curl; then
    curl -fsSL -o "$work/$1" "$from/$1"
  else
    wget -q -O "$work/$1" "$from/$1"
  fi || refuse "$from/$1 cannot be downloaded" "check the address; it is that of the folder with SHA256SUMS"
}

# The signature, by one of the keys in the file.
sed -nE 's/^((sk-)?(ssh|ecdsa)-[^ ]+ [A-Za-z0-9+/=]+).*/release \1/p' "$key" >"$work/signers"
[ -s "$work/signers" ] || refuse "$key has no public key" "name a file such as release.pub, whose line begins with ssh-ed25519"
fetch SHA256SUMS
fetch SHA256SUMS.sig
ssh-keygen -Y verify -q -f "$work/signers" -I release -n blueprintd-release -s "$work/SHA256SUMS.sig" <"$work/SHA256SUMS" >"$work/why" 2>&1 || {
  cat "$work/why" >&2
  refuse "the signature of SHA256SUMS is not that of a key in $key; nothing was installed" "do not use these files; tell whoever publishes them"
}

# The archive for this machine, whose name has the version.
names=$(sed -nE "s/^[0-9a-f]{64}  (blueprintd_[0-9A-Za-z.-]+_${system}_${processor}\\.tar\\.gz)\$/\\1/p" "$work/SHA256SUMS")
archive=$(echo "$names" | head -n 1)
[ -n "$archive" ] || refuse "the release has no program for $system/$processor" "see $from/SHA256SUMS"
found=${archive#blueprintd_} found=${found%"_${system}_${processor}.tar.gz"}
[ -z "$version" ] || [ "$version" = "$found" ] || refuse "the release at $from is version $found, not $version; nothing was installed" "check the address"

fetch "$archive"
if has sha256sum; then
  sum=$(sha256sum <"$work/$archive")
else
  sum=$(shasum -a 256 <"$work/$archive")
fi
grep -qxF "${sum%% *}  $archive" "$work/SHA256SUMS" ||
  refuse "$archive does not have the checksum in SHA256SUMS; nothing was installed" "download it again; if it fails again, do not use these files"

tar -xzf "$work/$archive" -C "$work"
program=$work/${archive%.tar.gz}/blueprintd
if cmp -s "$program" "$to/blueprintd"; then
  echo "blueprintd $found is installed already: $to/blueprintd"
  exit 0
fi
# A program that runs is replaced by renaming, not written to.
cp "$program" "$to/.blueprintd.new"
chmod 755 "$to/.blueprintd.new"
mv -f "$to/.blueprintd.new" "$to/blueprintd"
echo "installed blueprintd $found: $to/blueprintd"

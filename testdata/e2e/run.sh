#!/bin/sh
# Runs the end-to-end suites against a freshly built binary.
#
#   testdata/e2e/run.sh                    all suites
#   testdata/e2e/run.sh wire.test.mjs ...  some of them
#
# Those in mail/ need root and Debian's swaks and postfix, which apt installs if they
# are missing; if that fails, these suites are skipped with a message. `make e2e-mail`
# runs only them. Those in browser/ need Debian's chromium and firefox-esr
# (CHROMIUM=/path/to/another, FIREFOX=...) under the same rule; `make e2e-browser` runs only
# them. container.test.mjs needs root, and Debian's buildah and qemu-user-static;
# release.test.mjs needs root, and Debian's systemd-container, rpm, openssh-client,
# wget, postgresql and caddy; proxies.test.mjs needs nginx and caddy. They fail if these
# cannot be installed. Where no machine with systemd can be booted, such as in a container
# that may not mount, that part is left out with a message.
#
# BLUEPRINTD=/path/to/binary tests that executable instead of building one. It needs
# Node 20 or newer, npm, curl, openssl and, the first time, the npm registry. Its exit
# code is that of node --test, whose summary is the last output.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Reinstall unless node_modules was installed from exactly these files.
cd "$here"
wanted=$(cat package.json client10/package.json package-lock.json | cksum)
if [ "$(cat node_modules/.installed-from 2>/dev/null)" != "$wanted" ]; then
  npm ci --loglevel=error
  echo "$wanted" > node_modules/.installed-from
fi

# order-as-edges.test.mjs runs code of the dashboard.
[ -d "$root/web/node_modules" ] || (cd "$root/web" && npm ci --loglevel=error)

if [ -z "${BLUEPRINTD:-}" ]; then
  (cd "$root" && CGO_ENABLED=0 go build -o "$work/blueprintd" .)
  BLUEPRINTD=$work/blueprintd
fi
export BLUEPRINTD

# Installs packages of Debian quietly if permitted; the caller checks whether the programs exist.
may_install() { [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; }
install() {
  export DEBIAN_FRONTEND=noninteractive
  set -- apt-get install -qq -y --no-install-recommends "$@"
  "$@" >/dev/null 2>&1 || { apt-get update -qq >/dev/null 2>&1 && "$@" >/dev/null 2>&1; } || true
}
# Prints the path of a program. If it is missing, the package of that name is only unpacked:
# installed, it would start a service on this machine.
program() {
  command -v "$1" || ! may_install || {
    (cd "$work" && { apt-get download -qq "$1" || { apt-get update -qq && apt-get download -qq "$1"; }; } && dpkg -x "$1"_*.deb "$1") >/dev/null 2>&1 || true
    echo "$work/$1/$2"
  }
}

chromium=${CHROMIUM:-/usr/bin/chromium}
firefox=${FIREFOX:-/usr/bin/firefox-esr}
case "${*:-browser/}" in
  *browser/* | *pictures*)
    [ -x "$chromium" ] || [ -n "${CHROMIUM:-}" ] || ! may_install || install chromium fonts-dejavu-core
    [ -x "$firefox" ] || [ -n "${FIREFOX:-}" ] || ! may_install || install firefox-esr
    ;;
esac

# container.test.mjs fails with a hint if these cannot be installed.
case "${*:-container}" in
  *container*) { command -v buildah && command -v qemu-aarch64-static; } >/dev/null || ! may_install || install buildah qemu-user-static ;;
esac

# So does release.test.mjs.
case "${*:-release}" in
  *release*) { command -v systemd-nspawn && command -v rpm && command -v ssh-keygen && command -v wget && ls /usr/lib/postgresql/*/bin/initdb; } >/dev/null 2>&1 || ! may_install || install systemd systemd-container rpm openssh-client wget postgresql ;;
esac
case "${*:-release}" in
  *release* | *proxies*) CADDY=${CADDY:-$(program caddy usr/bin/caddy)} && export CADDY ;;
esac
case "${*:-proxies}" in
  *proxies*) NGINX=${NGINX:-$(program nginx usr/sbin/nginx)} && export NGINX ;;
esac

left_out=
if [ $# -eq 0 ]; then
  set -- *.test.mjs
  if may_install && ! { command -v swaks && command -v postfix; } >/dev/null; then
    install swaks libnet-ssleay-perl postfix
  fi
  if command -v swaks >/dev/null && command -v postfix >/dev/null && [ "$(id -u)" -eq 0 ]; then
    set -- "$@" mail/*.test.mjs
  else
    left_out="mail/ is left out: it needs root, swaks and postfix (make e2e-mail)"
  fi
  if [ -x "$chromium" ] && [ -x "$firefox" ]; then
    set -- "$@" browser/*.test.mjs
  else
    left_out="$left_out
browser/ is left out: it needs Debian's chromium and firefox-esr, or CHROMIUM=/path/to/another and FIREFOX=... (make e2e-browser)"
  fi
fi
[ -z "$left_out" ] || echo "$left_out" >&2
node --test --test-timeout=600000 --test-reporter=spec "$@"

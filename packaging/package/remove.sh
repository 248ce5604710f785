#!/bin/sh
# Runs before a removal and before an upgrade; only a removal stops the service.
set -eu

case "${1:-}" in
  remove | 0) ;;
  *) exit 0 ;;
esac

units=blueprintd.service
for wanted in /etc/systemd/system/*.wants/blueprintd@?*.service; do
  [ -L "$wanted" ] && units="$units ${wanted##*/}"
done
if [ -d /run/systemd/system ]; then
  # shellcheck disable=SC2086 # a list
  systemctl disable --now $units
  systemctl stop 'blueprintd@*.service'
fi

#!/bin/sh
# Runs after a removal. The data, the settings and the master key stay; only dpkg --purge
# removes them.
set -eu

case "${1:-}" in
  remove | purge | 0)
    [ ! -d /run/systemd/system ] || systemctl daemon-reload
    ;;
esac

if [ "${1:-}" = purge ]; then
  # systemd makes /var/lib/blueprintd a link to the folder in private.
  rm -rf /var/lib/private/blueprintd /var/lib/blueprintd /etc/blueprintd
fi

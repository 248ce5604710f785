#!/bin/sh
# Runs after an installation and after an upgrade; dpkg and rpm pass different arguments.
set -eu

case "${1:-}" in
  configure | 1 | 2) ;;
  *) exit 0 ;; # dpkg undoes something else
esac

# A key that exists is kept: the secrets of the database are encrypted with it.
if [ ! -e /etc/blueprintd/master.key ]; then
  /usr/bin/blueprintd master-key create /etc/blueprintd/master.key >/dev/null
  echo "created the master key /etc/blueprintd/master.key; keep a copy of it elsewhere"
fi

first=yes
case "$1:${2:-}" in
  configure:?* | 2:*) first= ;;
esac
if [ -n "$first" ]; then
  echo "start the server with: systemctl enable --now blueprintd"
fi

# Without systemd, as in a chroot, there is nothing to restart.
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
[ -z "$first" ] || exit 0

# Processes of one server are restarted one after the other, so that it is not interrupted.
for unit in $(systemctl list-units --plain --no-legend --state=active blueprintd.service 'blueprintd@*.service' | cut -d ' ' -f 1); do
  systemctl restart "$unit" || echo "$unit did not start again; see journalctl -u $unit" >&2
done

#!/bin/sh
# Backs up the SQLite file, deletes old backups, and copies the others to another machine, where it deletes nothing.
# BACKUP_TARGET: the folder there, such as backup@backup.example.com:advocacy. By default, nothing is copied.
# BACKUP_DAYS: how long this machine keeps a backup.
set -eu
folder=/var/backups/advocacy
/usr/bin/node dist/bootstrap/cli.js backup "$folder/$(date --utc +%Y-%m-%dT%H%M%S).db"
find "$folder" -name '*.db' -mtime "+${BACKUP_DAYS:-30}" -delete
find "$folder" -name '*.incomplete' -mtime +0 -delete
[ -z "${BACKUP_TARGET:-}" ] || rsync --archive "$folder/" "$BACKUP_TARGET/"

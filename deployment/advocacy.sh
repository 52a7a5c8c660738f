#!/bin/bash
# The command line with the settings of the service, as its user. Only root can run this script. Standard error, which
# has a line for each change, also goes to the journal.
set -o pipefail -o allexport
. /etc/advocacy.env
# advocacy-ports.conf sets the ports of several processes, so the settings have none. LINKS_URL requires LINKS_PORT.
[ -z "${LINKS_URL:-}" ] || : "${LINKS_PORT:=3001}"
{
  runuser --user advocacy -- /usr/bin/node /opt/workspace-advocacy/dist/bootstrap/cli.js "$@" 2>&1 >&3 3>&- |
    tee >(systemd-cat --identifier=advocacy --level-prefix=false) >&2
} 3>&1

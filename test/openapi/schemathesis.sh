#!/usr/bin/env bash
# Usage: schemathesis.sh [SCHEMATHESIS_OPTION...]
# Runs Schemathesis against every operation of a service with a demo workspace, on a new SQLite file. For another storage, set its
# settings and the API key in KEY (test/support/with-mongodb.ts does).
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp --directory)
if [ -z "${STORAGE:-}" ]; then
  export SQLITE_FILE=$folder/advocacy.db KEY=demo-key-of-the-checks DEMO_API_KEY=demo-key-of-the-checks
fi
export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=.
tools=${XDG_CACHE_HOME:-$HOME/.cache}/workspace-advocacy/schemathesis
if ! cmp -s requirements.txt "$tools/installed"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --requirement requirements.txt
  cp requirements.txt "$tools/installed"
fi

log=$folder/log
PORT=0 RATE_LIMIT_POINTS=1000000000 REJECTED_CREDENTIALS_PER_MINUTE=1000000000 LOG_LEVEL=error \
  node ../../dist/bootstrap/main.js >"$log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$folder" .hypothesis .schemathesis' EXIT
for _ in $(seq 100); do
  BASE_URL=$(grep -o 'http://127.0.0.1:[0-9]*' "$log" | head -n 1) && break
  sleep 0.1
done
export BASE_URL
"$tools/bin/schemathesis" --config-file schemathesis.toml run ../../docs/openapi.json "$@"

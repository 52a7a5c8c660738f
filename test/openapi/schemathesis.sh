#!/usr/bin/env bash
# Has Schemathesis try every operation of a service with a demo workspace: `schemathesis.sh [options of it]`. It is in memory,
# or where the settings say, with the key KEY (test/support/with-mongodb.ts).
set -euo pipefail
cd "$(dirname "$0")"
[ "${STORAGE:=memory}" = memory ] && export KEY=demo-key-of-the-checks DEMO_API_KEY=demo-key-of-the-checks
export SCHEMATHESIS_HOOKS=hooks PYTHONPATH=.
tools=${XDG_CACHE_HOME:-$HOME/.cache}/workspace-advocacy/schemathesis
if ! cmp -s requirements.txt "$tools/installed"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --requirement requirements.txt
  cp requirements.txt "$tools/installed"
fi

said=$(mktemp)
PORT=0 RATE_LIMIT_POINTS=1000000000 REFUSED_CREDENTIALS_PER_MINUTE=1000000000 LOG_LEVEL=error \
  node ../../dist/bootstrap/main.js >"$said" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$said" .hypothesis .schemathesis' EXIT
for _ in $(seq 100); do
  BASE_URL=$(grep -o 'http://127.0.0.1:[0-9]*' "$said" | head -n 1) && break
  sleep 0.1
done
export BASE_URL
"$tools/bin/schemathesis" --config-file schemathesis.toml run ../../docs/openapi.json "$@"

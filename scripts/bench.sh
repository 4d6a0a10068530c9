#!/usr/bin/env bash
# Prints what our code costs, as ratios to its limits, on both databases; the arguments
# are those of the program.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates postgres redis setpriv knot nsd bind
. scripts/servers.sh
trap stop_servers EXIT
export POSTGRES_FSYNC=on # as SQLite is measured, and as a service runs
start_servers
export CGO_ENABLED=0 # as a release is built
go run ./bench "$@"

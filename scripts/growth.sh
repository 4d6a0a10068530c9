#!/usr/bin/env bash
# Measures the service with more and more names; SIZES names how many.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates postgres redis setpriv
. scripts/servers.sh
trap stop_servers EXIT
start_servers
# shellcheck disable=SC2086
go run ./growth ${SIZES:-10000 100000}

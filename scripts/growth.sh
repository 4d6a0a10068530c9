#!/usr/bin/env bash
# Measures the service with more and more names; SIZES names how many.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates postgres redis setpriv knot nsd
. scripts/servers.sh
trap stop_servers EXIT
POSTGRES_BUFFERS=2GB # a tenth of the largest database, as an operator would set it
start_servers
export CGO_ENABLED=0 # as a release is built
# shellcheck disable=SC2086
go run ./growth ${SIZES:-10000 100000}

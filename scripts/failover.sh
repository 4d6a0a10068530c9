#!/usr/bin/env bash
# Causes every fault of failover/ under a stream of purchases and DNS changes, and prints
# a table. Arguments are passed to go test: -run 'TestMatrix/Redis' runs some of them,
# -hour also keeps the registry down for an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates postgres redis setpriv pgbouncer haproxy
export TEST_POSTGRES_URL=unused # each case has servers of its own
exec go test -tags failover -count=1 -timeout 120m ./failover "$@"

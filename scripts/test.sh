#!/usr/bin/env bash
# All tests within the budget of docs/testing.md: 15 minutes on 2 cores, from cold.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates postgres redis setpriv pgbouncer knot nsd bind ldns unbound net-epp aiosmtpd chromium
. scripts/servers.sh
. scripts/suites.sh
. scripts/wait.sh
. scripts/node.sh
use_node
scripts/need.sh curl dig openssl # the examples in the docs use them
trap stop_servers EXIT
start_servers "$(memory_folder)"

# The packages that take longest come first.
slow='./cmd/deed ./internal/sqldb ./internal/settle/chain ./internal/web ./internal/app'
rest="$slow $(go list ./... | grep -vE '/(cmd/deed|internal/(sqldb|settle/chain|web|app|e2e))$')"

# Without cgo, as a release is built: there is nothing to compile twice. The race
# detector needs it, doubles what is compiled and slows a test about five times, so it
# runs in `make long`, on everything.
export CGO_ENABLED=0
suite "format, vet, layers" scripts/vet.sh

# The tests of the whole service take longest, one after the other, so they run in two
# processes beside all others. Most tests wait more than they compute.
all_tests() {
	local failed=0 half='^Test[A-L]'
	go tool -modfile=tools/go.mod gotestsum --version >/dev/null # compiled once
	go_tests -timeout 60m -run "$half" ./internal/e2e &
	local first=$!
	go_tests -timeout 60m -skip "$half" ./internal/e2e &
	local second=$!
	# shellcheck disable=SC2086
	go_tests -p 3 -timeout 60m $rest || failed=1
	wait $first || failed=1
	wait $second || failed=1
	return $failed
}
suite "tests" all_tests
close_suites

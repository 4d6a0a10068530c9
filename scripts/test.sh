#!/usr/bin/env bash
# All tests within the budget of docs/testing.md: 15 minutes on 2 cores, from cold.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates cc postgres redis setpriv pgbouncer knot nsd bind ldns unbound net-epp aiosmtpd chromium
. scripts/servers.sh
. scripts/suites.sh
. scripts/wait.sh
. scripts/node.sh
use_node
scripts/need.sh curl dig openssl # the examples in the docs use them
trap stop_servers EXIT
start_servers

# The race detector runs where state is shared: core and services. It slows a test
# about five times, so `make long` runs it on the rest, among them the databases and
# the chain.
raced=(. ./api/... ./internal/catalog/... ./internal/health/... ./internal/ratelimit/... ./internal/signin/...
	./internal/cache/... ./internal/keyfile/... ./internal/devchain/...)
rest=$(go list ./... | grep -vxFf <(go list "${raced[@]}" ./internal/e2e))

suite "lint" scripts/lint.sh
suite "core, services, caches (race detector)" go_tests -race -timeout 60m "${raced[@]}"
# These tests wait more than they compute, so four packages run at a time; the one that
# takes longest is the first.
# shellcheck disable=SC2086
suite "databases, chain, adapters, wiring" go_tests -p 4 -timeout 60m ./internal/e2e $rest
close_suites

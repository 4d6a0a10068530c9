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
start_servers

rest=$(go list ./... | grep -vx '.*/internal/e2e')

# Without cgo, as a release is built: there is nothing to compile twice. The race
# detector needs it, doubles what is compiled and slows a test about five times, so it
# runs in `make long`, on everything.
export CGO_ENABLED=0
suite "format, vet, layers" scripts/vet.sh
# These tests wait more than they compute, so four packages run at a time; the one that
# takes longest is the first.
# shellcheck disable=SC2086
suite "tests" go_tests -p 4 -timeout 60m ./internal/e2e $rest
close_suites

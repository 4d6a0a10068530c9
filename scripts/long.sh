#!/usr/bin/env bash
# What does not fit into `make test`. FUZZ is how long each fuzz target runs.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates cc postgres redis setpriv knot nsd bind ldns unbound zonemaster dnsviz net-epp powerdns chromium pgbouncer promtool haproxy nginx caddy systemd-analyze buildah
. scripts/servers.sh
. scripts/suites.sh
. scripts/wait.sh
. scripts/node.sh
use_node
scripts/need.sh curl dig openssl # the examples in the docs use them
trap stop_servers EXIT
start_servers

suite "lint" scripts/lint.sh

# The simulator runs one step after the other: the race detector would see nothing
# there, and take five times as long.
rest=$(go list ./... | grep -v '/sim$\|/internal/e2e$')
# The package that takes longest is the first.
# shellcheck disable=SC2086
suite "everything but the simulator, with the race detector and the tag long" go_tests -race -tags long -timeout 60m ./internal/e2e $rest
suite "the simulator: thousands of seeds, and every known bug" go_tests -tags long -timeout 60m ./sim

# Check that the other platforms of a release compile; nothing is run there. cgo is
# off, as in a release.
cross() { CGO_ENABLED=0 GOOS=$1 GOARCH=$2 go build ./...; }
suite "Windows compiles" cross windows amd64
suite "macOS compiles" cross darwin arm64

# The minimization of interesting inputs is limited, because it could use up all
# the time.
fuzz() { go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZ:-10s}" -fuzzminimizetime 10x "$1"; }
while read -r package target; do
	suite "fuzz $package $target" fuzz "$package" "$target"
done < <(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's#^(.*)/[^/]*:[0-9]+:func #\1 #')
close_suites

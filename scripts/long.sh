#!/usr/bin/env bash
# What does not fit into `make test`. FUZZ is how long each fuzz target runs.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates cc postgres redis setpriv knot nsd bind ldns unbound zonemaster dnsviz net-epp aiosmtpd powerdns chromium pgbouncer promtool haproxy nginx caddy systemd-analyze buildah
. scripts/servers.sh
. scripts/suites.sh
. scripts/wait.sh
. scripts/node.sh
use_node
scripts/need.sh curl dig openssl # the examples in the docs use them
trap stop_servers EXIT
start_servers "$(memory_folder)"

suite "lint" scripts/lint.sh

# The race detector slows a test about five times. It runs on every package, but not on
# those that start the service as a process or compute step by step; of the tests of the
# whole service, on those that do many things at once.
raced=$(go list ./... | grep -vE '/(sim|cmd/deed|contracts|deploy|docs|failover|internal/(e2e|web))$')
# shellcheck disable=SC2086
suite "packages, with the race detector" go_tests -race -p 4 -timeout 60m $raced
suite "the whole service, many at once, with the race detector" go_tests -race -timeout 60m \
	-run 'Race|Nodes|AtOnce|Flood|Thousand|Stream|Hang' ./internal/e2e

# long_tests prints the names of the tests behind the tag, separated by |.
long_tests() {
	grep -rlE --include='*_test.go' '^//go:build.*\blong\b' . | xargs grep -hoE '^func Test[A-Za-z0-9_]+' | sed 's/^func //' | sort -u | paste -sd '|'
}
# Without cgo, as in make test, which has compiled most of it then. The packages that take
# longest come first. Most tests wait for processes that they start, so four packages run
# at a time. The simulator has more seeds with the tag.
export CGO_ENABLED=0
# shellcheck disable=SC2046
suite "the tests behind the tag long" go_tests -tags long -p 4 -timeout 60m \
	-run "^($(long_tests)|TestDocsRun|Test[A-Za-z]*Simulation)\$" \
	./sim ./cmd/deed $(go list ./... | grep -vE '/(sim|cmd/deed)$')

# Check that the other platforms of a release compile; nothing is run there.
cross() { GOOS=$1 GOARCH=$2 go build ./...; }
suite "Windows compiles" cross windows amd64
suite "macOS compiles" cross darwin arm64

# The minimization of interesting inputs is limited, because it could use up all
# the time.
fuzz() { go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZ:-10s}" -fuzzminimizetime 10x "$1"; }
while read -r package target; do
	suite "fuzz $package $target" fuzz "$package" "$target"
done < <(grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's#^(.*)/[^/]*:[0-9]+:func #\1 #')
close_suites

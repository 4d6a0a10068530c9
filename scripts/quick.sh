#!/usr/bin/env bash
# The tests that a developer runs while writing: everything that needs Go alone.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/need.sh go ca-certificates
unset TEST_POSTGRES_URL TEST_REDIS_URL

# Left out: tests of the built binary, which need npm's clients; those that type
# the commands in the docs; the simulator; those of the page in Chromium.
# shellcheck disable=SC2046
go test -skip '^(TestBrowser|TestBuiltFilesAreUpToDate)$' $(go list ./... | grep -vE '/(cmd/deed|docs|sim)$') | grep -v 'no test files' || failed=yes
echo
echo "This left out PostgreSQL, Redis, lint, the race detector, the built binary with clients from npm, the page in Chromium, the docs and the simulator; make test runs them."
[ -z "${failed:-}" ]

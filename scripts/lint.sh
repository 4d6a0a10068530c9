#!/usr/bin/env bash
# What vet.sh checks, and staticcheck (see staticcheck.conf), which takes minutes the
# first time.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/vet.sh
go vet ./...
go tool -modfile=tools/go.mod staticcheck ./...
echo "staticcheck is in order"

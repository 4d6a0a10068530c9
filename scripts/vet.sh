#!/usr/bin/env bash
# Fails on format, vet, layers and global loggers. Sizes are only printed: a large file
# is acceptable if it reads well.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/compiler.sh

unformatted=$(gofmt -l . | grep -v node_modules || true)
if [ -n "$unformatted" ]; then
	printf 'Run gofmt -w on:\n%s\n' "$unformatted" >&2
	exit 1
fi
go vet -tags long,bugs ./...
go test -run "TestImportsPointDown|TestLoggersArePassedIn" . >/dev/null || go test -run "TestImportsPointDown|TestLoggersArePassedIn" .
echo "format, vet, layers and loggers are in order"
go run ./scripts/sizes

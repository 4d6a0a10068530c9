#!/usr/bin/env bash
# build.sh build|install [FLAG…]: runs `go build` or `go install` on cmd/deed with
# the version stamped, and shows how far it is: a first build compiles more than
# 600 packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/compiler.sh
. scripts/version.sh

# progress counts the packages in the output of `go build -v` and passes on
# everything else, which is errors.
progress() {
	local line packages=0 downloads=0
	while IFS= read -r line; do
		case $line in
		"go: downloading "*) downloads=$((downloads + 1)) ;;
		*[[:space:]:]*)
			printf '%s\n' "$line"
			continue
			;;
		*) packages=$((packages + 1)) ;;
		esac
		if [ -t 2 ]; then
			printf '\r  %d modules downloaded, %d packages compiled ' "$downloads" "$packages"
		elif [ $(((downloads + packages) % 100)) = 0 ]; then
			printf '  %d modules downloaded, %d packages compiled\n' "$downloads" "$packages"
		fi
	done
	[ ! -t 2 ] || [ $((downloads + packages)) = 0 ] || echo
}

# build downloads what is missing and builds. net/http needs no modules, so it is compiled
# with much of the standard library while they are downloaded.
build() {
	go build net/http &
	go list -deps ./cmd/deed >/dev/null
	wait
	go "$command" -v -ldflags "$(stamp)" "$@" ./cmd/deed
}

command=$1
shift
printf 'deed: building %s (the first build takes a few minutes)\n' "$(version)" >&2
export CGO_ENABLED=0 # as a release is built
build "$@" 2>&1 | progress >&2

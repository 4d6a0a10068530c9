#!/usr/bin/env bash
# licenses.sh OS/ARCH…: prints the licences and notices of Go and of every module
# that is linked into cmd/deed on these platforms. It fails when a module has
# none, because then the binary may not be distributed.
set -euo pipefail
cd "$(dirname "$0")/.."

# packages prints a line for each package: its module, version, the module's
# folder and its own.
packages() {
	local platform
	for platform; do
		CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} \
			go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}} {{$.Dir}}{{end}}{{end}}' ./cmd/deed
	done | sort -u
}

# folders prints the folder of a module and those of its packages that are
# linked, with all between them: each may have a licence of its own.
folders() {
	local module=$1 folder
	while read -r folder; do
		while [ "$folder" != "$module" ]; do
			echo "$folder"
			folder=$(dirname "$folder")
		done
	done | sort -u
	echo "$module"
}

# texts prints the licence files of the folders it reads, and fails when there
# are none.
texts() {
	local folder file found=1
	while read -r folder; do
		for file in "$folder"/*; do
			case $(basename "$file" | tr '[:lower:]' '[:upper:]') in
			*.GO) continue ;;
			LICENSE* | LICENCE* | COPYING* | NOTICE* | UNLICENSE*) ;;
			*) continue ;;
			esac
			[ -f "$file" ] || continue
			found=0
			printf -- '--- %s\n\n' "${file#"$1"/}"
			cat "$file"
			echo
		done
	done
	return $found
}

# header prints the comment at the top of a source file that names a licence.
header() {
	local file
	file=$(grep -lE '^//.*[Ll]icense' "$1"/*.go | head -1)
	[ -n "$file" ] && sed '/^package /,$d' "$file"
}

title() { printf '%s\n%s\n\n' "$(printf '=%.0s' {1..80})" "$1"; }

list=$(packages "$@")
echo "Deed is linked with the modules below, each under the licence that follows its name."
echo
title "The Go standard library, $(go env GOVERSION)"
go env GOROOT | texts "$(go env GOROOT)"
cut -d ' ' -f 1-3 <<<"$list" | sort -u | while read -r module version folder; do
	title "$module $version"
	awk -v module="$module" '$1 == module {print $4}' <<<"$list" | folders "$folder" | texts "$folder" ||
		header "$folder" || { echo "deed: $module has no licence" >&2; exit 1; }
done

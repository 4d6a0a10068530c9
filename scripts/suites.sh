# shellcheck shell=bash
# To be sourced: suite runs one group of tests and remembers how they ended;
# close_suites prints the seconds of each and the closing line.

results=$(mktemp -d "${TMPDIR:-/tmp}/deed-results.XXXXXX")
suite_table=()
suite_failed=0

# suite NAME COMMAND…: runs the command. One that runs Go tests is given
# --jsonfile, from which the tests are counted.
suite() {
	local name=$1 began=$SECONDS status=0
	shift
	printf '\n== %s\n' "$name"
	"$@" || status=$?
	[ $status = 0 ] || suite_failed=1
	suite_table+=("$(printf '%5d s  %-7s %s' $((SECONDS - began)) "$([ $status = 0 ] && echo ok || echo FAILED)" "$name")")
}

# go_tests ARGUMENTS…: go test, counted. The runner stands in tools/go.mod. Another suite
# runs go vet on everything.
go_tests() {
	go tool -modfile=tools/go.mod gotestsum --format pkgname --hide-summary skipped \
		--jsonfile "$results/$(date +%s%N).json" -- -vet=off "$@"
}

count() { cat "$results"/*.json 2>/dev/null | grep -c "\"Action\":\"$1\".*\"Test\":" || true; }

close_suites() {
	local passed failed skipped
	passed=$(count pass) failed=$(count fail) skipped=$(count skip)
	printf '\n'
	printf '%s\n' "${suite_table[@]}"
	rm -rf "$results"
	printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$suite_failed" = 0 ] && [ "$failed" = 0 ]
}

# shellcheck shell=bash
# To be sourced: version prints the version of this clone, image_tag the same as the tag
# of an image, and stamp the linker flags that put it into cmd/deed, together with the
# commit and its date. The date is that of the commit, so that the same commit gives the
# same binary.

# version is `git describe`, or what Go calls a pseudo-version while there is no
# tag. Outside a clone it is "devel".
version() {
	git rev-parse --verify --quiet HEAD >/dev/null 2>&1 || { echo devel; return; }
	git describe --tags --match 'v[0-9]*' --dirty=+dirty 2>/dev/null && return
	printf 'v0.0.0-%s-%s' "$(commit_date %Y%m%d%H%M%S)" "$(git rev-parse --short=12 HEAD)"
	git diff-index --quiet HEAD -- || printf '+dirty'
	echo
}

# A tag must not have a "+".
image_tag() { version | tr + _; }

commit_date() { TZ=UTC0 git log -1 --format=%cd --date="format-local:$1"; }

stamp() {
	printf -- '-X main.release=%s' "$(version)"
	! git rev-parse --verify --quiet HEAD >/dev/null 2>&1 ||
		printf -- ' -X main.commit=%s -X main.date=%s' "$(git rev-parse HEAD)" "$(commit_date %Y-%m-%dT%H:%M:%SZ)"
}

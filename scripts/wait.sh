# shellcheck shell=bash
# To be sourced: waits for a package manager that another process is using.
# NEED_WAIT is the maximum in seconds.

need_wait=${NEED_WAIT:-600}

# apt_get ARGUMENTS…: runs apt-get as soon as no other process holds one of its
# locks. apt-get has an option to wait for the lock of dpkg, but not for those of
# its lists and downloads, so it is retried for all of them. When it fails to get a
# lock, it has changed nothing.
apt_get() {
	local began=$SECONDS said status busy=
	while :; do
		status=0
		said=$(LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get "$@" 2>&1) || status=$?
		if [ $status = 0 ] || ! grep -qE 'Could not get lock|Unable to (lock|acquire)' <<<"$said"; then
			[ $status = 0 ] || printf '%s\n' "$said" >&2
			return $status
		fi
		if [ $((SECONDS - began)) -ge "$need_wait" ]; then
			printf '%s\n' "$said" >&2
			echo "deed: the package manager is still in use after $need_wait seconds; when that has ended, try again (NEED_WAIT=SECONDS waits longer)" >&2
			return 1
		fi
		[ -n "$busy" ] || echo "deed: the package manager is in use, waiting up to $need_wait seconds: $(grep -m 1 -E 'lock' <<<"$said")" >&2
		busy=yes
		sleep 1
	done
}

# one_at_a_time FILE COMMAND…: runs the command while no other run of ours holds
# the lock of FILE.
one_at_a_time() {
	local file=$1 status=0
	shift
	command -v flock >/dev/null || { "$@"; return; } # on no Debian
	flock --close --nonblock --conflict-exit-code 75 "$file" "$@" || status=$?
	[ $status = 75 ] || return $status
	echo "deed: another run is installing packages, waiting up to $need_wait seconds" >&2
	status=0
	flock --close --timeout "$need_wait" --conflict-exit-code 75 "$file" "$@" || status=$?
	[ $status != 75 ] || echo "deed: another run is still installing packages after $need_wait seconds; when that has ended, try again (NEED_WAIT=SECONDS waits longer)" >&2
	return $status
}

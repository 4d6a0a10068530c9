#!/usr/bin/env bash
# need.sh THING…: makes sure that each thing is installed. Missing ones are
# installed from Debian's packages if permitted; otherwise it prints what to
# install, and fails. It waits for a package manager that is in use (NEED_WAIT), and
# two runs of this script install one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/wait.sh

locked=
if [ "${1:-}" = --locked ]; then # called by itself, below
	locked=yes
	shift
fi

# present THING and package THING: how to see it, and where it comes from.
present() {
	case $1 in
	go) command -v go ;;
	cc) command -v cc || command -v gcc ;;
	curl | dig | openssl) command -v "$1" ;;
	ca-certificates) [ -s /etc/ssl/certs/ca-certificates.crt ] || [ -s /etc/pki/tls/certs/ca-bundle.crt ] || [ "$(uname)" = Darwin ] ;;
	postgres) ls -d /usr/lib/postgresql/*/bin/initdb || command -v initdb ;;
	redis) command -v redis-server || command -v valkey-server ;;
	npm | chromium) command -v "$1" ;;
	setpriv) [ "$(id -u)" != 0 ] || command -v setpriv ;;
	knot) server knotd ;;
	nsd | unbound | pgbouncer | haproxy | nginx) server "$1" ;;
	promtool | caddy | buildah | dnsviz) command -v "$1" ;;
	zonemaster) command -v zonemaster-cli ;;
	systemd-analyze) command -v systemd-analyze ;;
	bind) server named && command -v dnssec-verify ;;
	ldns) command -v ldns-verify-zone ;;
	net-epp) perl -MNet::EPP::Client -e 1 ;;
	aiosmtpd) /usr/bin/python3 -c 'import aiosmtpd' ;;
	powerdns) server pdns_server && ls /usr/lib/*/pdns/libgsqlite3backend.so && ls /usr/lib/*/pdns/libbindbackend.so ;;
	esac >/dev/null 2>&1
}
# server PROGRAM: a plain user's PATH leaves out where Debian puts them.
server() { command -v "$1" || [ -x "/usr/sbin/$1" ]; }
package() {
	case $1 in
	cc) echo gcc libc6-dev ;;
	dig) echo bind9-dnsutils ;;
	postgres) echo postgresql ;;
	redis) echo redis-server ;;
	setpriv) echo util-linux ;;
	bind) echo bind9 bind9-utils ;;
	ldns) echo ldnsutils ;;
	net-epp) echo libnet-epp-perl ;;
	aiosmtpd) echo python3-aiosmtpd ;;
	promtool) echo prometheus ;;
	systemd-analyze) echo systemd ;;
	zonemaster) echo zonemaster-cli ;;
	powerdns) echo pdns-server pdns-backend-sqlite3 pdns-backend-bind ;;
	*) echo "$1" ;;
	esac
}

missing=()
for thing; do
	present "$thing" || missing+=("$thing")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [[ " ${missing[*]} " == *" go "* ]]; then
	echo "deed: Go is not installed. Install Go $(awk '$1 == "go" {print $2}' go.mod) or later from https://go.dev/dl/ and put it on your PATH." >&2
	exit 1
fi
packages=()
for thing in "${missing[@]}"; do
	read -ra names <<<"$(package "$thing")"
	packages+=("${names[@]}")
done

if ! command -v apt-get >/dev/null || { [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; }; then
	echo "deed: this needs ${missing[*]}, which this user may not install here. Have it installed, then try again:" >&2
	echo "  apt-get install --no-install-recommends ${packages[*]}" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	exec sudo -n env NEED_WAIT="$need_wait" scripts/need.sh "${missing[@]}"
fi
# Another run may be installing the same things: what is missing is asked again
# under the lock.
if [ -z "$locked" ]; then
	one_at_a_time /run/lock/deed-packages.lock scripts/need.sh --locked "${missing[@]}"
	exit
fi

echo "deed: installing ${packages[*]}"
# The tests start servers of their own: no package may start one for the machine.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi
if [[ " ${packages[*]} " == *" postgresql "* ]]; then
	mkdir -p /etc/postgresql-common/createcluster.d
	echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/deed.conf
fi
if ! apt_get update -qq || ! apt_get install -y -qq --no-install-recommends "${packages[@]}"; then
	echo "deed: could not install ${packages[*]}" >&2
	exit 1
fi

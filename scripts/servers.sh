# shellcheck shell=bash
# To be sourced: start_servers [FOLDER] starts a PostgreSQL and a Redis of our own, on
# free ports, in a temporary folder, as an unprivileged user, and sets
# TEST_POSTGRES_URL and TEST_REDIS_URL; stop_servers ends them and leaves
# nothing behind.

servers=

start_servers() {
	servers=$(mktemp -d "${1:-$(temporary_folder)}/deed-test.XXXXXX")
	chmod 755 "$servers"
	mkdir "$servers/home"
	if [ "$(id -u)" = 0 ]; then
		user=nobody
		id postgres >/dev/null 2>&1 && user=postgres
		chown -R "$user" "$servers"
	fi
	start_postgres
	start_redis
}

temporary_folder() { echo "${TMPDIR:-/tmp}"; }

# memory_folder prints a folder in memory, if there is one with room for the servers of
# tests. Each test copies the files of a database, which takes a quarter to a half of the
# processors' time if they are on a disk.
memory_folder() {
	local kind free memory
	read -r kind free < <(df --output=fstype,avail /dev/shm 2>/dev/null | tail -1) || true
	memory=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null) || true
	if [ "$kind" = tmpfs ] && [ "$free" -gt $((2 << 20)) ] && [ "${memory:-0}" -gt $((4 << 20)) ]; then # in kB
		echo /dev/shm
	else
		temporary_folder
	fi
}

# unprivileged runs a command as an unprivileged user; PostgreSQL refuses to run as
# root.
unprivileged() {
	if [ "$(id -u)" = 0 ]; then
		(cd "$servers" && setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env HOME="$servers/home" "$@")
	else
		(cd "$servers" && "$@")
	fi
}

# free_port prints an unused port. Another process may take it first, so callers
# retry.
free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

start_postgres() {
	local bin port
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
	[ -n "$bin" ] || bin=$(dirname "$(command -v initdb)")
	pg_ctl=$bin/pg_ctl
	# Test data need not survive the machine: no fsync, unless POSTGRES_FSYNC is on.
	# Databases are short-lived: no vacuum. Shared memory is in the folder, so that nothing
	# is left of a server that is killed.
	local durable="-c fsync=off -c full_page_writes=off -c synchronous_commit=off"
	[ "${POSTGRES_FSYNC:-off}" = off ] || durable=
	unprivileged "$bin/initdb" -D "$servers/postgres" -U deed -A trust --no-locale -E UTF8 -N >"$servers/initdb.log" 2>&1 ||
		{ cat "$servers/initdb.log" >&2; return 1; }
	for _ in 1 2 3 4 5; do
		port=$(free_port)
		if unprivileged "$pg_ctl" -D "$servers/postgres" -s -w -t 60 -l "$servers/home/postgres.log" \
			-o "-p $port -h 127.0.0.1 -k $servers $durable -c dynamic_shared_memory_type=mmap -c autovacuum=off -c max_connections=300 -c shared_buffers=${POSTGRES_BUFFERS:-128MB}" start; then
			export TEST_POSTGRES_URL="postgres://deed@127.0.0.1:$port/postgres?sslmode=disable&connect_timeout=60"
			return
		fi
	done
	cat "$servers/home/postgres.log" >&2
	return 1
}

start_redis() {
	local bin port
	bin=$(command -v redis-server || command -v valkey-server)
	for _ in 1 2 3 4 5; do
		port=$(free_port)
		unprivileged "$bin" --port "$port" --bind 127.0.0.1 --dir "$servers/home" --save '' --appendonly no \
			--daemonize yes --pidfile "$servers/home/redis.pid" --logfile "$servers/home/redis.log" >/dev/null
		for _ in $(seq 100); do
			if [ -s "$servers/home/redis.pid" ] && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
				export TEST_REDIS_URL="redis://127.0.0.1:$port/0"
				return
			fi
			sleep 0.05
		done
	done
	cat "$servers/home/redis.log" >&2
	return 1
}

stop_servers() {
	[ -n "$servers" ] || return 0
	[ ! -s "$servers/home/redis.pid" ] || kill "$(cat "$servers/home/redis.pid")" || true
	[ ! -d "$servers/postgres" ] || unprivileged "$pg_ctl" -D "$servers/postgres" -s -m immediate stop || true
	rm -rf "$servers"
	servers=
}

//go:build unix

package primary_test

import "testing"

var knot = recipe{name: "Knot", program: "knotd", debian: "knot", signs: true,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		return []string{"-c", s.write(t, "knot.conf", `
server:
    listen: 127.0.0.1@{port}
    rundir: {dir}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 2
log:
  - target: stderr
    any: info
database:
    storage: {dir}
    journal-db-max-size: 64M
key:
  - id: {key}
    algorithm: hmac-sha256
    secret: {secret}
remote:
  - id: primary
    address: 127.0.0.1@{from}
    key: {key}
acl:
  - id: notices
    key: {key}
    action: notify
  - id: readers
    address: 127.0.0.0/8
    action: transfer
template:
  - id: default
    storage: {dir}
    zonefile-sync: -1
    zonefile-load: none
    journal-content: all
  - id: member
    storage: {dir}
    master: primary
    acl: [notices, readers]
    zonefile-sync: -1
    zonefile-load: none
    journal-content: all
zone:
  - domain: {catalog}
    master: primary
    acl: notices
    catalog-role: interpret
    catalog-template: member
`)}
	}}

var bind = recipe{name: "BIND", program: "named", debian: "bind9", signs: true,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		return []string{"-g", "-n", "1", "-c", s.write(t, "named.conf", `
key "{key}" { algorithm hmac-sha256; secret "{secret}"; };
controls { };
options {
	directory "{dir}";
	pid-file "{dir}/named.pid";
	session-keyfile "{dir}/session.key";
	managed-keys-directory "{dir}";
	lock-file none;
	listen-on port {port} { 127.0.0.1; };
	listen-on-v6 { none; };
	recursion no;
	dnssec-validation no;
	notify no;
	allow-transfer { 127.0.0.0/8; };
	serial-query-rate 1000;
	catalog-zones {
		zone "{catalog}" default-primaries { 127.0.0.1 port {from} key "{key}"; } in-memory yes min-update-interval 0;
	};
};
zone "{catalog}" {
	type secondary;
	file "catalog.db";
	primaries { 127.0.0.1 port {from} key "{key}"; };
	allow-query { none; };
	allow-transfer { none; };
};
`)}
	}}

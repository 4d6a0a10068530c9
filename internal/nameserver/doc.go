// Package nameserver is the authoritative name server inside the service.
//
// Publish turns a zone into a snapshot: its names in canonical order, and its
// records packed as they go on the wire, but for the few bytes that depend on
// the question. A snapshot is never changed; a new one takes its place with one
// atomic store, so a query sees the old zone or the new one and never waits.
//
// A query is read (query.go), its zone is found (table.go), the rules of RFC
// 1034, 4.3.2 pick the records (respond.go, and proof.go for DNSSEC), and they
// are copied behind the question (reply.go). Nothing on that way allocates.
// Sockets stand at both ends: many datagrams in one system call (udp.go), and
// streams that a stranger cannot hold for long (tcp.go).
//
// It answers for the zones it was given and for nothing else: it does not
// recurse, transfer or take updates.
package nameserver

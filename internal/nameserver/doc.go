// Package nameserver is the authoritative name server inside the service.
//
// Publish turns a zone into a snapshot: its names in canonical order, and its
// records in wire format, except for the few bytes that depend on the question. A
// snapshot is immutable; a new one replaces it with one atomic store, so a query
// sees the old zone or the new one and never blocks.
//
// A query is parsed (query.go), its zone is found (table.go), the rules of RFC
// 1034, 4.3.2 select the records (respond.go, and proof.go for DNSSEC), and they
// are copied behind the question (reply.go). Nothing on this path allocates. UDP
// reads and writes many datagrams in one system call (udp.go); TCP connections have
// limits and timeouts (tcp.go).
//
// It answers for the zones that were published and for nothing else: it does not
// recurse, transfer zones or accept updates.
package nameserver

package dnszone

// An RR is one resource record as name servers serve it. Two RRs are equal when
// they are the same record, so that zones can be compared as sets.
type RR struct {
	Owner string // absolute, lowercase, without the trailing dot: "www.example.com"
	Type  uint16
	TTL   uint32
	Data  string // the rdata in wire format, uncompressed, in canonical form (RFC 4034, 6.2)
}

package dnszone

// An RR is one resource record as name servers give it out. Two are equal when
// they are the same record, so that zones can be compared as sets.
type RR struct {
	Owner string // absolute, lowercase, without the last dot: "www.example.com"
	Type  uint16
	TTL   uint32
	Data  string // the rdata on the wire, without compression, in canonical form (RFC 4034, 6.2)
}

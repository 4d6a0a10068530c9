package primary

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnszone"
)

// soaTail is the length of the fixed end of a SOA's data: serial, refresh, retry,
// expire and minimum.
const soaTail = 20

// wireRR returns the record as it is sent. Its data is sent exactly as it was
// stored, whatever its type (RFC 3597).
func wireRR(rr dnszone.RR) dns.RR {
	return &dns.RFC3597{
		Hdr:   dns.RR_Header{Name: rr.Owner + ".", Rrtype: rr.Type, Class: dns.ClassINET, Ttl: rr.TTL},
		Rdata: hex.EncodeToString([]byte(rr.Data)),
	}
}

// wireLength is the length of the record in a message, in bytes, without
// compression.
func wireLength(rr dnszone.RR) int { return len(rr.Owner) + 2 + 10 + len(rr.Data) }

// serialOf returns the serial in a SOA.
func serialOf(soa dnszone.RR) (uint32, error) {
	if soa.Type != dns.TypeSOA || len(soa.Data) < soaTail+2 {
		return 0, fmt.Errorf("the record of %s is not a SOA", soa.Owner)
	}
	return binary.BigEndian.Uint32([]byte(soa.Data[len(soa.Data)-soaTail:])), nil
}

// takeSOA returns the one SOA with the serial, and the other records.
func takeSOA(rrs []dnszone.RR, serial uint32) (soa dnszone.RR, others []dnszone.RR, err error) {
	i := slices.IndexFunc(rrs, func(rr dnszone.RR) bool { return rr.Type == dns.TypeSOA })
	if i < 0 {
		return dnszone.RR{}, nil, fmt.Errorf("there is no SOA with serial %d", serial)
	}
	got, err := serialOf(rrs[i])
	if err != nil {
		return dnszone.RR{}, nil, err
	}
	if got != serial {
		return dnszone.RR{}, nil, fmt.Errorf("the SOA has serial %d instead of %d", got, serial)
	}
	return rrs[i], slices.Concat(rrs[:i], rrs[i+1:]), nil
}

// wireName returns a name without escapes in wire format.
func wireName(name string) string {
	var b strings.Builder
	for label := range strings.SplitSeq(strings.TrimSuffix(name, "."), ".") {
		if label != "" {
			b.WriteByte(byte(len(label)))
			b.WriteString(label)
		}
	}
	b.WriteByte(0)
	return b.String()
}

package dnssec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// servedTTL is the TTL of the records that Compose and Sign add: SOA, NS at the
// apex, keys, and delegations in a parent.
const servedTTL = 3600

// KeyTTL is how long resolvers have the keys of a zone in their caches.
const KeyTTL = servedTTL * time.Second

// A SOA is the start of authority of a zone (RFC 1035, 3.3.13). All times are
// seconds.
type SOA struct {
	Primary string // host name of the primary server: "ns1.example.net"
	Mailbox string // as a domain name: "hostmaster.example.net"
	Refresh uint32
	Retry   uint32
	Expire  uint32
	Minimum uint32 // TTL of negative answers
}

// NewSOA returns a SOA with the default times: a secondary that missed a NOTIFY is
// at most an hour behind, and serves the zone for two weeks without the primary;
// for a signed zone it is shorter (see Publishing.Serve).
func NewSOA(primary, mailbox string) SOA {
	return SOA{Primary: primary, Mailbox: mailbox, Refresh: dnszone.SOARefresh, Retry: dnszone.SOARetry, Expire: dnszone.SOAExpire, Minimum: dnszone.SOAMinimum}
}

// A Composition is the input of Compose.
type Composition struct {
	Origin  string // "example.com"
	Serial  uint32
	SOA     SOA
	Servers []string     // absolute host names of the zone's name servers
	RRs     []dnszone.RR // all other records: the owner's records, or a parent's delegations
}

// Compose returns the unsigned zone as name servers serve it: the SOA, then all
// other records in canonical order (RFC 4034, 6). Records of one owner and type get
// the smallest TTL among them (RFC 2181, 5.2), duplicates are removed.
//
// It fails when a name cannot be encoded, when a record is outside the zone, and
// when it is of a type that only Compose or Sign may add.
func Compose(c Composition) (ServedZone, error) {
	for i, rr := range c.RRs {
		err := c.admit(rr)
		if err == nil && (i == 0 || rr.Owner != c.RRs[i-1].Owner) {
			err = checkOwner(rr.Owner)
		}
		if err != nil {
			return ServedZone{}, fmt.Errorf("compose zone %s: %w", c.Origin, err)
		}
	}
	own, err := c.apex()
	if err != nil {
		return ServedZone{}, fmt.Errorf("compose zone %s: %w", c.Origin, err)
	}
	return ServedZone{Origin: c.Origin, Serial: c.Serial, RRs: canonical(own, c.RRs)}, nil
}

// admit reports why the record is not allowed as input.
func (c Composition) admit(rr dnszone.RR) error {
	if rr.Owner != c.Origin && !below(rr.Owner, c.Origin) {
		return fmt.Errorf("%s is outside of the zone", rr.Owner)
	}
	if len(rr.Data) > 0xffff {
		return fmt.Errorf("the data at %s is too long", rr.Owner)
	}
	switch rr.Type {
	case dns.TypeSOA, dns.TypeRRSIG, dns.TypeNSEC:
		return fmt.Errorf("%s at %s is reserved for the service", dns.TypeToString[rr.Type], rr.Owner)
	case dns.TypeNS:
		if rr.Owner == c.Origin {
			return errors.New("NS at the apex is reserved for the service")
		}
	}
	return nil
}

// apex returns the SOA and the NS records of the zone itself.
func (c Composition) apex() ([]dnszone.RR, error) {
	if err := checkOwner(c.Origin); err != nil {
		return nil, err
	}
	if len(c.Servers) == 0 {
		return nil, errors.New("it has no name servers")
	}
	soa, err := c.SOA.rr(c.Origin, c.Serial)
	if err != nil {
		return nil, err
	}
	rrs := []dnszone.RR{soa}
	for _, host := range c.Servers {
		name, err := wireName(host)
		if err != nil {
			return nil, err
		}
		rrs = append(rrs, dnszone.RR{Owner: c.Origin, Type: dns.TypeNS, TTL: servedTTL, Data: name})
	}
	return rrs, nil
}

func (s SOA) rr(origin string, serial uint32) (dnszone.RR, error) {
	primary, err := wireName(s.Primary)
	if err != nil {
		return dnszone.RR{}, err
	}
	mailbox, err := wireName(s.Mailbox)
	if err != nil {
		return dnszone.RR{}, err
	}
	data := []byte(primary + mailbox)
	for _, n := range []uint32{serial, s.Refresh, s.Retry, s.Expire, s.Minimum} {
		data = binary.BigEndian.AppendUint32(data, n)
	}
	return dnszone.RR{Owner: origin, Type: dns.TypeSOA, TTL: servedTTL, Data: string(data)}, nil
}

// Diff returns the records that were removed and added between z and next, each in the
// order of Compose: the old SOA is first in removed and the new one in added, as IXFR
// needs them (RFC 1995, 4).
func (z ServedZone) Diff(next ServedZone) (removed, added []dnszone.RR) {
	before, after := inOrder(z.RRs), inOrder(next.RRs)
	for len(before) > 0 && len(after) > 0 {
		if before[0] == after[0] {
			before, after = before[1:], after[1:]
			continue
		}
		c := compareRR(before[0], after[0]) // 0 if only the TTL differs
		if c <= 0 {
			removed, before = append(removed, before[0]), before[1:]
		}
		if c >= 0 {
			added, after = append(added, after[0]), after[1:]
		}
	}
	return append(removed, before...), append(added, after...)
}

// inOrder returns the records in the order of Compose, in which most zones are already.
func inOrder(rrs []dnszone.RR) []dnszone.RR {
	if slices.IsSortedFunc(rrs, compareRR) {
		return rrs
	}
	return slices.SortedFunc(slices.Values(rrs), compareRR)
}

// Sorted returns the zone in the order of Compose, for records that were stored
// unordered.
func (z ServedZone) Sorted() ServedZone {
	z.RRs = inOrder(z.RRs)
	return z
}

// canonical returns the records of all parts in canonical order, with one TTL for
// each owner and type, without duplicates. The parts are not modified.
func canonical(parts ...[]dnszone.RR) []dnszone.RR {
	rrs := slices.Concat(parts...)
	slices.SortFunc(rrs, compareRR)
	for set := range sets(rrs) {
		ttl := slices.MinFunc(set, func(a, b dnszone.RR) int { return cmp.Compare(a.TTL, b.TTL) }).TTL
		for i := range set {
			set[i].TTL = ttl
		}
	}
	return slices.Compact(rrs)
}

// sets yields the record sets of rrs, which are in canonical order: the runs of one
// owner and type.
func sets(rrs []dnszone.RR) iter.Seq[[]dnszone.RR] {
	return func(yield func([]dnszone.RR) bool) {
		for start := 0; start < len(rrs); {
			end := start + 1
			for end < len(rrs) && rrs[end].Owner == rrs[start].Owner && rrs[end].Type == rrs[start].Type {
				end++
			}
			if !yield(rrs[start:end:end]) {
				return
			}
			start = end
		}
	}
}

// compareRR orders records by owner, type and data (RFC 4034, 6), with the SOA
// before all other types. No name sorts before the apex, so that a zone begins
// with its SOA.
func compareRR(a, b dnszone.RR) int {
	if a.Owner != b.Owner {
		return compareNames(a.Owner, b.Owner)
	}
	if a.Type != b.Type {
		if a.Type == dns.TypeSOA {
			return -1
		}
		if b.Type == dns.TypeSOA {
			return 1
		}
		return cmp.Compare(a.Type, b.Type)
	}
	return cmp.Compare(a.Data, b.Data)
}

// compareNames orders two names by their labels from the right (RFC 4034, 6.1).
// They are lowercase and without escapes.
func compareNames(a, b string) int {
	for {
		i, j := strings.LastIndexByte(a, '.'), strings.LastIndexByte(b, '.')
		if c := strings.Compare(a[i+1:], b[j+1:]); c != 0 {
			return c
		}
		if i < 0 || j < 0 {
			return cmp.Compare(i, j)
		}
		a, b = a[:i], b[:j]
	}
}

// below reports whether name is below ancestor.
func below(name, ancestor string) bool {
	rest, found := strings.CutSuffix(name, ancestor)
	return found && strings.HasSuffix(rest, ".")
}

// checkOwner reports why a name is not valid as the owner of an RR.
func checkOwner(name string) error {
	if name != strings.ToLower(name) || strings.HasSuffix(name, ".") || strings.Contains(name, `\`) {
		return fmt.Errorf("%s must be lowercase, without escapes and without the trailing dot", deed.Quoted(name))
	}
	_, err := wireName(name)
	return err
}

// wireName returns the lowercase name in wire format, without compression.
func wireName(name string) (string, error) {
	var buf [255]byte
	n, err := dns.PackDomainName(dns.Fqdn(strings.ToLower(name)), buf[:], 0, nil, false)
	if name == "" || err != nil {
		return "", fmt.Errorf("%s is not a host name", deed.Quoted(name))
	}
	return string(buf[:n]), nil
}

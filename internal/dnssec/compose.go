package dnssec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// servedTTL is the TTL of the records that we add to a zone ourselves: SOA, NS
// at the apex, keys, and what a parent says of its children.
const servedTTL = 3600

// A SOA says who answers for a zone and how secondaries keep up with it
// (RFC 1035, 3.3.13). All times are seconds.
type SOA struct {
	Primary string // host name of the primary server: "ns1.example.net"
	Mailbox string // in the form of a name: "hostmaster.example.net"
	Refresh uint32
	Retry   uint32
	Expire  uint32
	Minimum uint32 // how long "there is no such record" may be remembered
}

// NewSOA returns a SOA with the times we use: a secondary that missed a NOTIFY
// is an hour behind at most, and answers for two weeks without us; with a signed
// zone, shorter (see Publishing.Serve).
func NewSOA(primary, mailbox string) SOA {
	return SOA{Primary: primary, Mailbox: mailbox, Refresh: 3600, Retry: 600, Expire: 1209600, Minimum: 300}
}

// A Composition is what a served zone is made from.
type Composition struct {
	Origin  string // "example.com"
	Serial  uint32
	SOA     SOA
	Servers []string     // absolute host names of the zone's name servers
	RRs     []dnszone.RR // everything else: the owner's records, or a parent's delegations
}

// Compose returns the zone as name servers give it out, unsigned: the SOA, then
// all other records in canonical order (RFC 4034, 6). Records of one owner and
// type get the smallest TTL among them (RFC 2181, 5.2), equal ones become one.
//
// It fails when a name cannot be written on the wire, when a record lies
// outside the zone, and when it is one that only we may add.
func Compose(c Composition) (ServedZone, error) {
	for _, rr := range c.RRs {
		if err := c.admit(rr); err != nil {
			return ServedZone{}, fmt.Errorf("compose zone %s: %w", c.Origin, err)
		}
	}
	own, err := c.apex()
	if err != nil {
		return ServedZone{}, fmt.Errorf("compose zone %s: %w", c.Origin, err)
	}
	return ServedZone{Origin: c.Origin, Serial: c.Serial, RRs: canonical(own, c.RRs)}, nil
}

// admit says why the record cannot be among the ones handed in.
func (c Composition) admit(rr dnszone.RR) error {
	if rr.Owner != c.Origin && !below(rr.Owner, c.Origin) {
		return fmt.Errorf("%s lies outside", rr.Owner)
	}
	if err := checkOwner(rr.Owner); err != nil {
		return err
	}
	if len(rr.Data) > 0xffff {
		return fmt.Errorf("the data at %s is too long", rr.Owner)
	}
	switch rr.Type {
	case dns.TypeSOA, dns.TypeRRSIG, dns.TypeNSEC:
		return fmt.Errorf("%s at %s is not for others to add", dns.TypeToString[rr.Type], rr.Owner)
	case dns.TypeNS:
		if rr.Owner == c.Origin {
			return errors.New("NS at the apex is not for others to add")
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

// Diff returns the records that next has no longer and those that it has newly,
// each in its zone's order: the old SOA comes first in gone and the new one in
// came, as IXFR wants them (RFC 1995, 4).
func (z ServedZone) Diff(next ServedZone) (gone, came []dnszone.RR) {
	return without(z.RRs, next.RRs), without(next.RRs, z.RRs)
}

// Sorted returns the zone in the order of Compose, for records that were kept
// without one.
func (z ServedZone) Sorted() ServedZone {
	z.RRs = slices.SortedFunc(slices.Values(z.RRs), compareRR)
	return z
}

// without returns the records of rrs that are not among others.
func without(rrs, others []dnszone.RR) []dnszone.RR {
	has := make(map[dnszone.RR]bool, len(others))
	for _, rr := range others {
		has[rr] = true
	}
	var rest []dnszone.RR
	for _, rr := range rrs {
		if !has[rr] {
			rest = append(rest, rr)
		}
	}
	return rest
}

// canonical returns the records of all parts in canonical order, with one TTL
// for each owner and type, every record once. The parts are left as they were.
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

// sets yields the record sets of rrs, which are in canonical order: the runs of
// one owner and type.
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
// They are lowercase and without escapes, as our owners are.
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

// below says whether name lies below ancestor.
func below(name, ancestor string) bool {
	rest, found := strings.CutSuffix(name, ancestor)
	return found && strings.HasSuffix(rest, ".")
}

// checkOwner says why a name cannot be an owner as an RR holds it.
func checkOwner(name string) error {
	if name != strings.ToLower(name) || strings.HasSuffix(name, ".") || strings.Contains(name, `\`) {
		return fmt.Errorf("%s is not lowercase, without escapes and without the last dot", deed.Quoted(name))
	}
	_, err := wireName(name)
	return err
}

// wireName returns the name on the wire, without compression, in lowercase.
func wireName(name string) (string, error) {
	var buf [255]byte
	n, err := dns.PackDomainName(dns.Fqdn(strings.ToLower(name)), buf[:], 0, nil, false)
	if name == "" || err != nil {
		return "", fmt.Errorf("%s is not a host name", deed.Quoted(name))
	}
	return string(buf[:n]), nil
}

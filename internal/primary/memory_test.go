package primary_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

// memory is a Store in memory. It keeps the whole history of each zone.
type memory struct {
	mu      sync.Mutex
	broken  bool // every call fails; mu guards this and the fields below
	catalog uint32
	changes []catalogChange // since the serial first
	first   uint32
	zones   map[string]*history
}

type history struct {
	label     string
	snapshots []dnssec.ServedZone // oldest first
}

func newMemory() *memory { return &memory{catalog: 1, first: 2, zones: map[string]*history{}} }

type catalogChange struct {
	serial uint32
	primary.MemberChange
}

// member notes a change of the catalog at its next serial. The caller holds mu.
func (m *memory) member(origin, label string, added bool) {
	m.changes = append(m.changes, catalogChange{m.catalog + 1, primary.MemberChange{Origin: origin, Label: label, Added: added}})
}

func (m *memory) CatalogChanges(_ context.Context, from uint32, limit int) (changes []primary.MemberChange, serial uint32, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return nil, 0, errBroken
	}
	for _, c := range m.changes {
		if c.serial > from {
			changes = append(changes, c.MemberChange)
		}
	}
	if from < m.first || from > m.catalog || len(changes) > limit {
		return nil, 0, deed.Errorf(deed.CodeNotFound, "the catalog has no changes since %d", from)
	}
	return changes, m.catalog, nil
}

var _ primary.Store = (*memory)(nil)

var errBroken = errors.New("the database is down")

// zone returns the history of a zone. The caller holds mu.
func (m *memory) zone(origin string) (*history, error) {
	if m.broken {
		return nil, errBroken
	}
	if h := m.zones[origin]; h != nil {
		return h, nil
	}
	return nil, deed.Errorf(deed.CodeNotFound, "there is no zone %s", origin)
}

func (h *history) last() dnssec.ServedZone { return h.snapshots[len(h.snapshots)-1] }

func (m *memory) CatalogSerial(context.Context) (uint32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return 0, errBroken
	}
	return m.catalog, nil
}

func (m *memory) Members(context.Context) ([]primary.Member, uint32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var members []primary.Member
	for origin, h := range m.zones {
		members = append(members, primary.Member{Origin: origin, Label: h.label, Serial: h.last().Serial})
	}
	return members, m.catalog, nil
}

func (m *memory) SOA(_ context.Context, origin string) (dnszone.RR, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, err := m.zone(origin)
	if err != nil {
		return dnszone.RR{}, err
	}
	return h.last().RRs[0], nil
}

func (m *memory) Zone(_ context.Context, origin string) (dnssec.ServedZone, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, err := m.zone(origin)
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	return h.last(), nil
}

func (m *memory) Changes(_ context.Context, origin string, from uint32) (removed, added []dnszone.RR, serial uint32, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, err := m.zone(origin)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, old := range h.snapshots {
		if old.Serial == from {
			now := h.last()
			return minus(old.RRs, now.RRs), minus(now.RRs, old.RRs), now.Serial, nil
		}
	}
	return nil, nil, 0, deed.Errorf(deed.CodeNotFound, "%s never had the serial %d", origin, from)
}

// add creates a zone with these records in addition to its SOA and NS.
func (m *memory) add(t *testing.T, origin, label string, records ...string) dnssec.ServedZone {
	t.Helper()
	rrs := []dnszone.RR{soaOf(origin, 100), rr(t, origin+". 300 IN NS ns1.example.net.")}
	for _, text := range records {
		rrs = append(rrs, rr(t, text))
	}
	z := dnssec.ServedZone{Origin: origin, Serial: 100, RRs: rrs}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.zones[origin] = &history{label: label, snapshots: []dnssec.ServedZone{z}}
	m.member(origin, label, true)
	m.catalog++
	return z
}

// edit creates the next version of a zone.
func (m *memory) edit(origin string, edit func(others []dnszone.RR) []dnszone.RR) dnssec.ServedZone {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.zones[origin]
	old := h.last()
	serial := old.Serial + 1
	rrs := append([]dnszone.RR{soaOf(origin, serial)}, edit(slices.Clone(old.RRs[1:]))...)
	z := dnssec.ServedZone{Origin: origin, Serial: serial, RRs: rrs}
	h.snapshots = append(h.snapshots, z)
	return z
}

// remove removes a zone.
func (m *memory) remove(origin string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.member(origin, m.zones[origin].label, false)
	delete(m.zones, origin)
	m.catalog++
}

// relabel gives a zone a new label in the catalog, as a change of owner does.
func (m *memory) relabel(origin, label string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.member(origin, m.zones[origin].label, false)
	m.member(origin, label, true)
	m.zones[origin].label = label
	m.catalog++
}

// failAll makes all following calls fail.
func (m *memory) failAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = true
}

func minus(a, b []dnszone.RR) []dnszone.RR {
	return slices.DeleteFunc(slices.Clone(a), func(rr dnszone.RR) bool { return slices.Contains(b, rr) })
}

// soaOf returns the SOA of a test zone.
func soaOf(origin string, serial uint32) dnszone.RR {
	data := []byte("\x03ns1\x07example\x03net\x00\x0ahostmaster\x07example\x03net\x00")
	for _, n := range []uint32{serial, 1800, 300, 2419200, 300} {
		data = binary.BigEndian.AppendUint32(data, n)
	}
	return dnszone.RR{Owner: origin, Type: dns.TypeSOA, TTL: 300, Data: string(data)}
}

// rr parses a record in zone file format.
func rr(t *testing.T, text string) dnszone.RR {
	t.Helper()
	parsed, err := dns.NewRR(text)
	if err != nil {
		t.Fatal(err)
	}
	return fromWire(t, parsed)
}

// fromWire converts a record of the DNS library.
func fromWire(t *testing.T, from dns.RR) dnszone.RR {
	t.Helper()
	var raw dns.RFC3597
	if err := raw.ToRFC3597(from); err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(raw.Rdata)
	if err != nil {
		t.Fatal(err)
	}
	h := from.Header()
	return dnszone.RR{Owner: strings.TrimSuffix(dns.CanonicalName(h.Name), "."), Type: h.Rrtype, TTL: h.Ttl, Data: string(data)}
}

// serialIn returns the serial of a SOA.
func serialIn(soa dnszone.RR) uint32 {
	return binary.BigEndian.Uint32([]byte(soa.Data[len(soa.Data)-20:]))
}

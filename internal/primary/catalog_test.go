package primary_test

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/primary"
)

// members returns the zones that a catalog lists, by label.
func members(t *testing.T, rrs []dnszone.RR) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, rr := range rrs {
		if rr.Type != dns.TypePTR {
			continue
		}
		name, _, err := dns.UnpackDomainName([]byte(rr.Data), 0)
		if err != nil {
			t.Fatal(err)
		}
		found[rr.Owner] = name
	}
	return found
}

func (h *testPrimary) wholeCatalog(t *testing.T) []dnszone.RR {
	t.Helper()
	rrs, _ := transfer(t, h.addr, signed(question(catalog+".", dns.TypeAXFR)))
	return body(t, rrs)
}

func TestCatalog(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	h.add(t, "example.org", "b2")
	rrs := h.wholeCatalog(t)
	want := []dnszone.RR{
		rr(t, "catalog.invalid. 0 IN NS invalid."),
		rr(t, `version.catalog.invalid. 0 IN TXT "2"`),
		rr(t, "a1.zones.catalog.invalid. 0 IN PTR example.com."),
		rr(t, "b2.zones.catalog.invalid. 0 IN PTR example.org."),
	}
	sameRecords(t, "catalog", rrs[1:], want)
	if len(rrs) > 0 && rrs[0] != rr(t, fmt.Sprintf("catalog.invalid. 0 IN SOA invalid. invalid. %d 1800 300 2419200 300", h.memory.catalog)) {
		t.Errorf("got the SOA %q", rrs[0].Data)
	}
}

// A secondary with an older snapshot is sent the changes since, however many steps.
func TestCatalogIXFR(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	snapshots := [][]dnszone.RR{h.wholeCatalog(t)}
	for _, step := range []func(){
		func() { h.add(t, "example.org", "b2") },
		func() { h.relabel("example.com", "c3") },
		func() { h.add(t, "brief.example", "d4") },
		func() { h.remove("brief.example"); h.remove("example.org") },
	} {
		step()
		snapshots = append(snapshots, h.wholeCatalog(t))
	}
	now := snapshots[len(snapshots)-1]
	if got := members(t, now); len(got) != 1 || got["c3.zones.catalog.invalid"] != "example.com." {
		t.Errorf("got the members %v", got)
	}
	full := h.count("axfr")
	for _, old := range snapshots[:len(snapshots)-1] {
		serial := serialIn(old[0])
		rrs, _ := transfer(t, h.addr, signed(ixfr(catalog, serial)))
		sameRecords(t, fmt.Sprintf("catalog since %d", serial), apply(t, old, rrs), now)
	}
	if h.count("axfr") != full {
		t.Error("a cached snapshot caused a full transfer")
	}
	rrs, _ := transfer(t, h.addr, signed(ixfr(catalog, 1)))
	sameRecords(t, "catalog since an unknown snapshot", body(t, rrs), now)
}

// The history is bounded: after many steps the oldest serial causes a full transfer.
func TestCatalogHistoryIsBounded(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	first := serialIn(h.wholeCatalog(t)[0])
	var last uint32
	for i := range 300 {
		h.relabel("example.com", fmt.Sprintf("l%d", i))
		z, err := h.catalog.Zone(t.Context(), catalog)
		if err != nil {
			t.Fatal(err)
		}
		if i == 200 {
			last = z.Serial
		}
	}
	if _, _, _, err := h.catalog.Changes(t.Context(), catalog, first); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("the first snapshot: got %v", err)
	}
	removed, added, serial, err := h.catalog.Changes(t.Context(), catalog, last)
	if err != nil || len(removed) != 2 || len(added) != 2 || serial != h.memory.catalog {
		t.Errorf("a later snapshot: got %d removed, %d added, serial %d, %v", len(removed), len(added), serial, err)
	}
	if !slices.Contains(added, rr(t, "l299.zones.catalog.invalid. 0 IN PTR example.com.")) {
		t.Errorf("added: %v", added)
	}
}

// A zone added or removed here or on another node causes a notice with a new serial
// of the catalog, and so does the start.
func TestCatalogNotice(t *testing.T) {
	store := newMemory()
	e := listen(t, confirm, false)
	n := &primary.Notifier{
		Secondaries: []primary.Secondary{{Name: "a", Addr: e.addr, Key: key(t)}}, Catalog: &primary.Catalog{Origin: catalog, Store: store},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	n.Start()
	t.Cleanup(func() { closeNow(n) })
	of := func(serial uint32) func(receivedNotice) bool {
		return func(h receivedNotice) bool { return h == receivedNotice{catalog + ".", serial, true} }
	}
	e.waitFor(t, of(1))
	z := store.add(t, "example.com", "a1")
	if err := n.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
	e.waitFor(t, of(2))
	store.remove("example.com")
	if err := n.Withdraw(t.Context(), "example.com"); err != nil {
		t.Fatal(err)
	}
	e.waitFor(t, of(3))
	store.add(t, "example.org", "b2") // by another node
	e.waitFor(t, of(4))
}

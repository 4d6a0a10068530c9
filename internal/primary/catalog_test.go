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

// Changes are sent up to a number, and as far back as they are stored. Beyond, a
// secondary gets the whole catalog.
func TestCatalogHistoryIsBounded(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	first := serialIn(h.wholeCatalog(t)[0])
	for i := range 25_000 {
		h.relabel("example.com", fmt.Sprintf("l%d", i))
	}
	changes := func(from uint32) (removed, added []dnszone.RR, err error) {
		removed, added, serial, err := h.catalog.Changes(t.Context(), catalog, from)
		if err == nil && serial != h.memory.catalog {
			t.Errorf("since %d: got serial %d", from, serial)
		}
		return removed, added, err
	}
	removed, added, err := changes(first)
	if err != nil || len(removed) != 2 || len(added) != 2 || !slices.Contains(added, rr(t, "l24999.zones.catalog.invalid. 0 IN PTR example.com.")) {
		t.Errorf("got %v removed, %v added, %v", removed, added, err)
	}
	if removed, added, err := changes(h.memory.catalog); err != nil || len(removed)+len(added) != 0 {
		t.Errorf("the current serial: got %v removed, %v added, %v", removed, added, err)
	}
	h.relabel("example.com", "last")
	if _, _, err := changes(first); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("more than are sent: got %v", err)
	}
	h.memory.mu.Lock()
	h.memory.first = first + 10
	h.memory.mu.Unlock()
	if _, _, err := changes(first + 9); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("before the history: got %v", err)
	}
	if _, _, err := changes(first + 10); err != nil {
		t.Error(err)
	}
	if _, _, err := changes(h.memory.catalog + 1); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("a serial that is still to come: got %v", err)
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

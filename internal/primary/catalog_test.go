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

func (h *house) wholeCatalog(t *testing.T) []dnszone.RR {
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

// Who has an older edition is sent what changed since, however many steps that is.
func TestCatalogIXFR(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	editions := [][]dnszone.RR{h.wholeCatalog(t)}
	for _, step := range []func(){
		func() { h.add(t, "example.org", "b2") },
		func() { h.relabel("example.com", "c3") },
		func() { h.add(t, "brief.example", "d4") },
		func() { h.remove("brief.example"); h.remove("example.org") },
	} {
		step()
		editions = append(editions, h.wholeCatalog(t))
	}
	now := editions[len(editions)-1]
	if got := members(t, now); len(got) != 1 || got["c3.zones.catalog.invalid"] != "example.com." {
		t.Errorf("got the members %v", got)
	}
	full := h.count("axfr")
	for _, old := range editions[:len(editions)-1] {
		serial := serialIn(old[0])
		rrs, _ := transfer(t, h.addr, signed(ixfr(catalog, serial)))
		sameRecords(t, fmt.Sprintf("catalog since %d", serial), apply(t, old, rrs), now)
	}
	if h.count("axfr") != full {
		t.Error("a remembered edition was followed by a whole transfer")
	}
	rrs, _ := transfer(t, h.addr, signed(ixfr(catalog, 1)))
	sameRecords(t, "catalog since an edition nobody saw", body(t, rrs), now)
}

// The catalog forgets: after very many steps the oldest is answered in full.
func TestCatalogForgets(t *testing.T) {
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
		t.Errorf("the first edition: got %v", err)
	}
	gone, came, serial, err := h.catalog.Changes(t.Context(), catalog, last)
	if err != nil || len(gone) != 2 || len(came) != 2 || serial != h.memory.catalog {
		t.Errorf("a later edition: got %d gone, %d came, serial %d, %v", len(gone), len(came), serial, err)
	}
	if !slices.Contains(came, rr(t, "l299.zones.catalog.invalid. 0 IN PTR example.com.")) {
		t.Errorf("came: %v", came)
	}
}

// Zones that come and go are told as a new serial of the catalog, here and on
// another node, and so is the catalog we find at the start.
func TestCatalogNotice(t *testing.T) {
	store := newMemory()
	e := listen(t, confirm, false)
	n := &primary.Notifier{
		Secondaries: []primary.Secondary{{Name: "a", Addr: e.addr, Key: key(t)}}, Catalog: &primary.Catalog{Origin: catalog, Store: store},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	n.Start()
	t.Cleanup(func() { giveUp(n) })
	of := func(serial uint32) func(heard) bool {
		return func(h heard) bool { return h == heard{catalog + ".", serial, true} }
	}
	e.until(t, of(1))
	z := store.add(t, "example.com", "a1")
	if err := n.Publish(t.Context(), z); err != nil {
		t.Fatal(err)
	}
	e.until(t, of(2))
	store.remove("example.com")
	if err := n.Withdraw(t.Context(), "example.com"); err != nil {
		t.Fatal(err)
	}
	e.until(t, of(3))
	store.add(t, "example.org", "b2") // nobody tells us
	e.until(t, of(4))
}

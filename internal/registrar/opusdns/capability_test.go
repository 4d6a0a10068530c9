package opusdns_test

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

func TestTrademarkClaim(t *testing.T) {
	e := open(t)
	e.vendor.Configure(func(a *opusdnstest.Account) { a.Claims = map[deed.Name]bool{"famous.com": true} })
	if a, err := e.Available(t.Context(), "famous.com"); err != nil || a.Available || a.Reason != "reserved" {
		t.Errorf("got %+v, %v, want a name that cannot be bought", a, err)
	}
	e.conforms(t)
}

// TLDs that demand something of the registrant that we cannot give are not sold.
func TestUnsupportedTLDs(t *testing.T) {
	e := open(t)
	for _, name := range []deed.Name{"one.us", "one.de"} {
		if a, err := e.Available(t.Context(), name); deed.CodeOf(err) != deed.CodeTLDNotSupported {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
		if p, err := e.Price(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Name: name, Years: 1}); deed.CodeOf(err) != deed.CodeTLDNotSupported {
			t.Errorf("the price of %s: got %+v, %v", name, p, err)
		}
	}
	if found, err := e.AvailableAll(t.Context(), []deed.Name{"one.us", "one.com"}); err != nil || len(found) != 1 || !found["one.com"].Available {
		t.Errorf("got %+v, %v, want one.com only", found, err)
	}
	all, err := e.TLDs(t.Context())
	if err != nil || !slices.Equal(all, []deed.TLD{"com", "de", "dev"}) {
		t.Errorf("got %v, %v", all, err)
	}
	e.conforms(t)
}

func TestBulkCheck(t *testing.T) {
	e := open(t)
	e.register(t, "taken.com")
	var names []deed.Name
	for i := range 250 {
		names = append(names, deed.Name("bulk-"+string(rune('a'+i/26))+string(rune('a'+i%26))+".com"))
	}
	names = append(names, "taken.com", "whois.com")
	before := e.vendor.Requests()
	all, err := e.AvailableAll(t.Context(), names)
	if err != nil || len(all) != len(names) || !all["bulk-aa.com"].Available || all["taken.com"].Reason != "taken" || all["whois.com"].Reason != "reserved" {
		t.Errorf("got %d, %v", len(all), err)
	}
	if got := e.vendor.Requests() - before; got != 3 {
		t.Errorf("got %d requests, want 3", got)
	}
	e.vendor.Break(opusdnstest.Unavailable, 1)
	if all, err := e.AvailableAll(t.Context(), names); err != nil || len(all) != 152 {
		t.Errorf("one request of three failed: got %d, %v, want 152 names", len(all), err)
	}
	e.conforms(t)
}

// The registrant is created once, and found again by another process.
func TestRegistrant(t *testing.T) {
	registrant := opusdns.Contact{
		FirstName: "Grace", LastName: "Example", Organization: "Example Ltd", Email: "names@example.com", Phone: "+44.2071234567",
		Street: "High St 1", City: "London", PostalCode: "N1 1AA", Country: "GB",
	}
	configure := func(c *opusdns.Config) { c.Contact, c.Registrant = "", registrant }
	e := open(t, configure)
	e.register(t, "one.com")
	e.register(t, "two.com")
	if got := e.vendor.Contacts(); got != 2 { // one was there before
		t.Errorf("got %d contacts, want 2", got)
	}
	again, err := opusdns.Open(opusdns.Config{
		BaseURL: e.url, Key: opusdnstest.Key, Secret: "a secret of the test", Organization: opusdnstest.Organization, Registrant: registrant, Now: e.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Place(t.Context(), e.order("three.com")); err != nil {
		t.Error(err)
	}
	if got := e.vendor.Contacts(); got != 2 {
		t.Errorf("after a restart: got %d contacts, want 2", got)
	}
	e.conforms(t)
}

func TestHosts(t *testing.T) {
	e := open(t)
	e.register(t, "glue.com")
	for _, addr := range []string{"192.0.2.1", "192.0.2.1", "2001:db8::1"} {
		if err := e.SetHost(t.Context(), "NS1.glue.com.", []netip.Addr{netip.MustParseAddr(addr)}); err != nil {
			t.Fatal(err)
		}
		if got := e.vendor.Host("ns1.glue.com"); !slices.Equal(got, []string{addr}) {
			t.Errorf("got %v, want %s", got, addr)
		}
	}
	if err := e.SetNameservers(t.Context(), "glue.com", []string{"ns1.glue.com", "ns2.example.net"}); err != nil {
		t.Fatal(err)
	}
	one := []netip.Addr{netip.MustParseAddr("192.0.2.1")}
	for title, c := range map[string]struct {
		err  error
		want deed.Code
	}{
		"below a name of another": {e.SetHost(t.Context(), "ns1.other.com", one), deed.CodeNotFound},
		"no addresses":            {e.SetHost(t.Context(), "ns1.glue.com", nil), deed.CodeValidation},
		"an address with a zone":  {e.SetHost(t.Context(), "ns1.glue.com", []netip.Addr{netip.MustParseAddr("fe80::1%eth0")}), deed.CodeValidation},
		"not a host":              {e.SetHost(t.Context(), "ns1..com", one), deed.CodeValidation},
		"delete while it is used": {e.DeleteHost(t.Context(), "ns1.glue.com"), deed.CodeValidation},
		"delete one that is not":  {e.DeleteHost(t.Context(), "ns9.glue.com"), deed.CodeNotFound},
		"delete what is no host":  {e.DeleteHost(t.Context(), "glue"), deed.CodeValidation},
	} {
		if deed.CodeOf(c.err) != c.want {
			t.Errorf("%s: got %v, want %s", title, c.err, c.want)
		}
	}
	if err := e.SetNameservers(t.Context(), "glue.com", []string{"ns1.example.net", "ns2.example.net"}); err != nil {
		t.Fatal(err)
	}
	if err := e.DeleteHost(t.Context(), "ns1.glue.com"); err != nil {
		t.Error(err)
	}
	e.conforms(t)
}

// A name is deleted at once in its add grace period, and goes into redemption later.
func TestDelete(t *testing.T) {
	e := open(t)
	e.register(t, "undo.com")
	e.register(t, "drop.com")
	if err := e.Delete(t.Context(), "undo.com"); err != nil {
		t.Fatal(err)
	}
	if err := e.Delete(t.Context(), "undo.com"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("twice: got %v", err)
	}
	if got, err := e.Order(t.Context(), e.order("undo.com")); err != nil || got.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent", got, err)
	}
	again := e.order("undo.com")
	again.Reference = "again"
	if err := e.Place(t.Context(), again); err != nil {
		t.Errorf("bought again: %v", err)
	}
	e.Advance(6 * 24 * time.Hour)
	if err := e.Delete(t.Context(), "drop.com"); err != nil {
		t.Fatal(err)
	}
	if h, err := e.Holding(t.Context(), "drop.com"); err != nil || h.Phase != lifecycle.PhaseRedemption {
		t.Errorf("got %+v, %v, want redemption", h, err)
	}
	if got, err := e.Order(t.Context(), e.order("drop.com")); err != nil || got.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent: it is deleted", got, err)
	}
	e.conforms(t)
}

// A name that the registry keeps until it expires is not deleted, whatever the vendor
// replies: nothing may be refunded for it.
func TestDeleteIsNotBelieved(t *testing.T) {
	e := open(t)
	e.register(t, "kept.com")
	e.vendor.Configure(func(a *opusdnstest.Account) { a.Keeps = true })
	if err := e.Delete(t.Context(), "kept.com"); !isUnknown(err) {
		t.Errorf("got %v, want an error without a code", err)
	}
	if _, err := e.Holding(t.Context(), "kept.com"); err != nil {
		t.Error(err)
	}
	e.conforms(t)
}

// A transfer away is approved or rejected, and a rejected one cannot be repeated with
// the same code.
func TestDecideTransfer(t *testing.T) {
	for _, approve := range []bool{false, true} {
		e := open(t)
		e.register(t, "leaves.com")
		if err := e.DecideTransfer(t.Context(), "leaves.com", approve); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("nothing pending: got %v", err)
		}
		e.Advance(61 * 24 * time.Hour)
		if err := e.SetLock(t.Context(), "leaves.com", false); err != nil {
			t.Fatal(err)
		}
		code, err := e.AuthCode(t.Context(), "leaves.com")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.registry.Leave(t.Context(), "leaves.com", code); err != nil {
			t.Fatal(err)
		}
		if err := e.DecideTransfer(t.Context(), "leaves.com", approve); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Holding(t.Context(), "leaves.com"); (deed.CodeOf(err) == deed.CodeNotFound) != approve {
			t.Errorf("approved %t: got %v", approve, err)
		}
		if !approve {
			if err := e.registry.Leave(t.Context(), "leaves.com", code); deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("the old code: got %v", err)
			}
		}
		e.conforms(t)
	}
}

// A change that the registry has not decided yet was not made: whoever makes it is told that
// the outcome is unknown, until it is.
func TestPendingUpdate(t *testing.T) {
	e := open(t)
	e.register(t, "held.com")
	hosts := []string{"ns3.example.net", "ns4.example.net"}
	e.vendor.HoldUpdates("held.com", true)
	for range 2 {
		if err := e.SetNameservers(t.Context(), "held.com", hosts); err == nil || deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("got %v, want an unknown outcome", err)
		}
	}
	if h, err := e.Holding(t.Context(), "held.com"); err != nil || slices.Equal(h.Nameservers, hosts) {
		t.Errorf("got %+v, %v", h, err)
	}
	e.vendor.HoldUpdates("held.com", false)
	e.step(t, "decided", func(ctx context.Context) error { return e.SetNameservers(ctx, "held.com", hosts) })
	if h, err := e.Holding(t.Context(), "held.com"); err != nil || !slices.Equal(h.Nameservers, hosts) {
		t.Errorf("got %+v, %v", h, err)
	}
	e.conforms(t)
}

// A key that the registry has instead of a DS is seen as its DS, and goes with it.
func TestKeyInsteadOfDS(t *testing.T) {
	e := open(t)
	e.register(t, "keyed.com")
	ours := []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
	for _, ds := range [][]dnssec.DS{nil, ours} {
		e.vendor.SetKey("keyed.com", "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==")
		if h, err := e.Holding(t.Context(), "keyed.com"); err != nil || len(h.DS) != 1 || h.DS[0].KeyTag != 55648 {
			t.Errorf("got %+v, %v, want the DS of the key", h.DS, err)
		}
		e.step(t, "DS", func(ctx context.Context) error { return e.SetDS(ctx, "keyed.com", ds) })
		if h, err := e.Holding(t.Context(), "keyed.com"); err != nil || !dnssec.SameDS(h.DS, ds) {
			t.Errorf("got %+v, %v, want %+v", h.DS, err, ds)
		}
	}
	e.conforms(t)
}

package local_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A recorder is a Publisher that records the published zones, or fails.
type recorder struct {
	broken bool
	zones  []dnssec.ServedZone
}

func (b *recorder) Publish(_ context.Context, z dnssec.ServedZone) error {
	if b.broken {
		return errors.New("broken")
	}
	b.zones = append(b.zones, z)
	return nil
}

func (b *recorder) Withdraw(context.Context, string) error { return nil }

// owners returns the owners of records of the type in the last published zone. number
// is the expected number of published zones.
func (b *recorder) owners(t *testing.T, number int, kind uint16) (owners []string) {
	t.Helper()
	if len(b.zones) != number {
		t.Fatalf("%d zones were published, want %d", len(b.zones), number)
	}
	for _, rr := range b.zones[number-1].RRs {
		if rr.Type == kind && rr.Owner != "com" && !slices.Contains(owners, rr.Owner) {
			owners = append(owners, rr.Owner)
		}
	}
	return owners
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A parent zone is rebuilt only when one of its delegations changes, when its
// signatures are due for renewal, and when the last publishing failed.
func TestParents(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		r, c := open(db)
		real, b := start, &recorder{}
		zones := sqldbtest.Zones(db, c.Now)
		p := local.Parents{Names: sqldb.Registry{DB: db}, Server: b, Publishing: zones.Publishing, Now: c.Now, Clock: func() time.Time { return real }}
		publish := func() {
			t.Helper()
			for range 2 { // the second time nothing has changed
				if err := p.Publish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		publish()
		for _, name := range []deed.Name{"first.com", "second.com"} {
			must(t, r.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: string(name), Name: name, Years: 1}))
		}
		hosts := []string{"ns1.example.net", "ns2.example.net"}
		must(t, r.SetNameservers(t.Context(), "first.com", hosts))
		own := []string{"ns1.second.com", "ns2.second.com"}
		if err := r.SetNameservers(t.Context(), "second.com", own); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("servers below the name without addresses: got %v", err)
		}
		b.broken = true
		if err := p.Publish(t.Context()); err == nil {
			t.Error("a failed Publish was not reported")
		}
		b.broken = false
		publish()
		if got := b.owners(t, 1, dns.TypeNS); !slices.Equal(got, []string{"first.com"}) {
			t.Errorf("delegated: %v", got)
		}
		key, _, err := zones.Publishing.DSOf("first.com", []dnssec.KeyID{{Generation: 1}})
		must(t, err)
		must(t, r.SetDS(t.Context(), "first.com", key))
		publish()
		if got := b.owners(t, 2, dns.TypeDS); !slices.Equal(got, []string{"first.com"}) {
			t.Errorf("secure: %v", got)
		}
		must(t, r.SetDelegation(t.Context(), "second.com", own, lifecycle.Glue{
			{Host: own[0], Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")}},
			{Host: own[1], Addresses: []netip.Addr{netip.MustParseAddr("2001:db8::1")}},
		}))
		publish()
		if got := append(b.owners(t, 3, dns.TypeA), b.owners(t, 3, dns.TypeAAAA)...); !slices.Equal(got, own) {
			t.Errorf("glue: %v", got)
		}
		real = real.AddDate(0, 0, 12)
		publish() // only the registry's clock counts
		c.Advance(12 * 24 * time.Hour)
		publish()
		if got := b.zones[3]; got.Serial <= b.zones[2].Serial || !got.RenewAt().After(c.Now()) {
			t.Errorf("serial %d after %d, to be renewed at %s", got.Serial, b.zones[2].Serial, got.RenewAt())
		}
		c.Advance(3 * 366 * 24 * time.Hour) // not renewed
		publish()
		if got := b.owners(t, 5, dns.TypeNS); len(got) > 0 {
			t.Errorf("after its end: %v", got)
		}
	})
}

// A manyNames is a registry with more names than parent zones are served for.
type manyNames struct{}

func (manyNames) Delegated(_ context.Context, _ time.Time, limit int) ([]registry.Entry, error) {
	return make([]registry.Entry, limit), nil
}

// With too many names the parent zones stay as they are, and the worker says so.
func TestParentsOfTooManyNames(t *testing.T) {
	b := &recorder{}
	p := local.Parents{Names: manyNames{}, Server: b, Now: time.Now, Clock: time.Now}
	if err := p.Publish(t.Context()); !errors.Is(err, local.ErrTooMany) || len(b.zones) > 0 {
		t.Errorf("got %v and %d zones", err, len(b.zones))
	}
}

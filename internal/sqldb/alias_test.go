package sqldb_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/redirect"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

// served returns the addresses that are served for an owner.
func (s *testEnv) addresses(t *testing.T, name deed.Name, owner string) (found []string) {
	t.Helper()
	for _, rr := range s.zone(t, name).RRs {
		if a, ok := netip.AddrFromSlice([]byte(rr.Data)); ok && rr.Owner == owner && (rr.Type == 1 || rr.Type == 28) {
			found = append(found, a.String())
		}
	}
	return found
}

// The addresses of an ALIAS are those of its target: looked up by its TTL, signed, under
// a new serial only when they change, and kept while they cannot be looked up.
func TestAliasFollowsItsTarget(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "alias.com", dnszone.Record{Type: "ALIAS", Host: "@", Value: "host.example.net", TTL: 3600})
		answer, ttl, failure := []string{"192.0.2.2", "192.0.2.1"}, 5*time.Minute, error(nil)
		u := &zone.AliasUpdater{Aliases: s.zones, Now: s.zones.Now, Lookup: func(_ context.Context, host string) (list []netip.Addr, _ time.Duration, _ error) {
			if host != "host.example.net" && host != "other.example.net" {
				t.Errorf("looked up %s", host)
			}
			if failure != nil {
				return nil, 0, failure
			}
			for _, a := range answer {
				list = append(list, netip.MustParseAddr(a))
			}
			return list, ttl, failure
		}}
		look := func(after time.Duration, wantDue int, want ...string) uint32 {
			t.Helper()
			s.clock = s.clock.Add(after)
			due, err := u.Due(t.Context(), 10)
			if err != nil || len(due) != wantDue {
				t.Fatalf("due: got %v, %v, want %d", due, err, wantDue)
			}
			for _, id := range append(due, due...) {
				if err := u.Advance(t.Context(), id); err != nil && failure == nil {
					t.Fatal(err)
				}
			}
			if got := s.addresses(t, "alias.com", "alias.com"); !slices.Equal(got, want) {
				t.Errorf("served: got %v, want %v", got, want)
			}
			return s.zone(t, "alias.com").Serial
		}
		first := look(0, 1, "192.0.2.1", "192.0.2.2")
		look(4*time.Minute, 0, "192.0.2.1", "192.0.2.2")
		slices.Reverse(answer)
		if serial := look(2*time.Minute, 1, "192.0.2.1", "192.0.2.2"); serial != first {
			t.Errorf("another order has another serial")
		}
		answer, ttl = []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fe80::1", "0.0.0.0", "100.64.0.1", "224.0.0.1", "::ffff:192.168.0.1", "::10.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::a00:1", "64:ff9b:1::a00:1", "2002:a00:1::1", "2001::1", "fec0::1", "198.18.0.1", "192.0.0.1", "2001:db8::7"}, 0
		if serial := look(5*time.Minute, 1, "2001:db8::7"); serial == first {
			t.Error("other addresses have the same serial")
		}
		failure = errors.New("no answer")
		look(2*time.Minute, 1, "2001:db8::7")
		look(30*time.Second, 0, "2001:db8::7") // it is not asked without a pause
		failure, answer = nil, nil
		for i := range 40 {
			answer = append(answer, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}).String())
		}
		s.clock = s.clock.Add(time.Minute)
		if err := u.Advance(t.Context(), "@/alias.com"); err != nil || len(s.addresses(t, "alias.com", "alias.com")) != 16 {
			t.Errorf("got %v, %v", s.addresses(t, "alias.com", "alias.com"), err)
		}
		id := s.recordID(t, "alias.com")
		other := "other.example.net"
		s.change(t, "alias.com", dnszone.RecordOp{Op: dnszone.OpUpdate, ID: id, Patch: dnszone.RecordPatch{Value: &other}})
		if got := s.addresses(t, "alias.com", "alias.com"); len(got) > 0 {
			t.Errorf("the addresses of another target are served: %v", got)
		}
		answer = []string{"192.0.2.9"}
		look(0, 1, "192.0.2.9")
		s.change(t, "alias.com", dnszone.RecordOp{Op: dnszone.OpDelete, ID: id})
		look(time.Hour, 0)
	})
}

// Each change of an alias costs a serial that nobody pays for, so a target that changes
// all the time is looked up less and less often; one that was quiet is looked up each
// minute again. Its owner is told of their own changes only.
func TestAliasThatKeepsChanging(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "alias.com", dnszone.Record{Type: "ALIAS", Host: "@", Value: "host.example.net", TTL: 3600})
		changing, ttl, lookups := true, time.Minute, 0
		u := &zone.AliasUpdater{Aliases: s.zones, Now: s.zones.Now, Lookup: func(context.Context, string) ([]netip.Addr, time.Duration, error) {
			if changing {
				lookups++
			}
			return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(lookups)})}, ttl, nil
		}}
		serial := func() uint32 { return s.zone(t, "alias.com").Serial }
		changes := func(minutes int) (n int) {
			t.Helper()
			for range minutes {
				before := serial()
				due, err := u.Due(t.Context(), 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range due {
					if err := u.Advance(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				if serial() != before {
					n++
				}
				if err := s.zones.MarkPropagated(t.Context(), "alias.com", serial()); err != nil {
					t.Fatal(err)
				}
				s.clock = s.clock.Add(time.Minute)
			}
			return n
		}
		if n := changes(24 * 60); n > 30 {
			t.Errorf("%d changes in a day", n)
		}
		changing = false
		if n := changes(4 * 60); n > 0 {
			t.Errorf("%d changes without other addresses", n)
		}
		ttl = 10 * time.Minute
		if n := changes(60); n > 0 {
			t.Errorf("%d changes with a larger TTL", n)
		}
		changing, ttl = true, time.Minute
		changes(10) // until the TTL has ended
		changing = false
		changes(3 * 60)
		changing = true
		if n := changes(2); n != 1 {
			t.Errorf("after a quiet time: %d changes in two minutes, want 1", n)
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM owner_events WHERE type = 'dns.published'`); err != nil || n != "1" {
			t.Errorf("the owner was told %s times, %v, want 1: of the new zone", n, err)
		}
		changing = false
		s.change(t, "alias.com", dnszone.RecordOp{Op: dnszone.OpAdd, ID: "rec_1", Record: dnszone.Record{Type: "A", Host: "www", Value: "192.0.2.1", TTL: 300}})
		changes(2)
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM owner_events WHERE type = 'dns.published'`); err != nil || n != "2" {
			t.Errorf("the owner was told %s times, %v, want 2", n, err)
		}
	})
}

// expiring is a context whose time is over when its channel is closed.
type expiring struct {
	context.Context
	done chan struct{}
}

func (c expiring) Done() <-chan struct{} { return c.done }

func (c expiring) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// A target that never answers is looked up less and less often, until it answers; also
// if a lookup takes all the time that the row has.
func TestAliasThatFails(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "alias.com", dnszone.Record{Type: "ALIAS", Host: "@", Value: "host.example.net", TTL: 3600})
		lookups, failure := 0, errors.New("no answer")
		u := &zone.AliasUpdater{Aliases: s.zones, Now: s.zones.Now, Lookup: func(ctx context.Context, _ string) ([]netip.Addr, time.Duration, error) {
			lookups++
			if ctx, ok := ctx.(expiring); ok {
				close(ctx.done)
			}
			if failure != nil {
				return nil, 0, failure
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, time.Minute, nil
		}}
		run := func(minutes int) int {
			t.Helper()
			lookups = 0
			for range minutes {
				due, err := u.Due(t.Context(), 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range due {
					if err := u.Advance(expiring{t.Context(), make(chan struct{})}, id); !errors.Is(err, failure) {
						t.Fatal(err)
					}
				}
				s.clock = s.clock.Add(time.Minute)
			}
			return lookups
		}
		if n := run(63); n != 6 { // after 0, 1, 3, 7, 15 and 31 minutes
			t.Errorf("%d lookups in an hour", n)
		}
		if n := run(10 * 60); n != 10 {
			t.Errorf("%d lookups in ten hours", n)
		}
		failure = nil
		run(60)
		if n := run(10); n != 10 {
			t.Errorf("%d lookups in ten minutes of a target that answers", n)
		}
	})
}

func (s *testEnv) recordID(t *testing.T, name deed.Name) dnszone.RecordID {
	t.Helper()
	z, err := s.zones.Zone(t.Context(), name)
	if err != nil || len(z.Records) != 1 {
		t.Fatal(z, err)
	}
	return z.Records[0].ID
}

// A host with a FORWARD has the addresses of the redirect servers, which redirect it and
// nothing else.
func TestForwardRedirects(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.zones.Publishing.Redirect = []netip.Addr{netip.MustParseAddr("192.0.2.80"), netip.MustParseAddr("2001:db8::80")}
		s.jobs.Zones = s.zones
		s.sell(t, "forward.com", dnszone.Record{Type: "FORWARD", Host: "@", Value: "https://example.net/", TTL: 300},
			dnszone.Record{Type: "FORWARD", Host: "a.b", Value: "301 https://example.net/b?x=1", TTL: 300}, dnszone.Record{Type: "TXT", Host: "c", Value: "x", TTL: 300})
		if got := s.addresses(t, "forward.com", "a.b.forward.com"); !slices.Equal(got, []string{"192.0.2.80", "2001:db8::80"}) {
			t.Errorf("served: got %v", got)
		}
		h := redirect.Handler{Forward: s.zones.Forward, Log: slog.New(slog.DiscardHandler)}
		for _, c := range []struct {
			method, host string
			status       int
			location     string
		}{
			{"GET", "forward.com", 302, "https://example.net/"}, {"HEAD", "Forward.COM.:8080", 302, "https://example.net/"},
			{"GET", "a.b.forward.com", 301, "https://example.net/b?x=1"}, {"POST", "forward.com", 405, ""},
			{"GET", "b.forward.com", 404, ""}, {"GET", "c.forward.com", 404, ""}, {"GET", "com", 404, ""}, {"GET", "", 404, ""}, {"GET", "a.b.c.d.e.f.g.h.i.j.k.forward.com", 404, ""},
			{"GET", "[::1]:80", 404, ""}, {"GET", "%27--", 404, ""},
		} {
			r := httptest.NewRequest(c.method, "/path?query", nil)
			r.Host = c.host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status || w.Header().Get("Location") != c.location {
				t.Errorf("%s %q: got %d %q, want %d %q", c.method, c.host, w.Code, w.Header().Get("Location"), c.status, c.location)
			}
		}
	})
}

package sqldb_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
	"deed.example/deed/internal/zone"
)

// If only the addresses of one family can be looked up, they are served with the last ones of
// the other, or alone if there never were any.
func TestAliasOfOneFamily(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestEnv(db)
		s.sell(t, "alias.com", dnszone.Record{Type: "ALIAS", Host: "@", Value: "host.example.net", TTL: 3600})
		var answer []netip.Addr
		var failure error
		u := &zone.AliasUpdater{Aliases: s.zones, Now: s.zones.Now, Lookup: func(context.Context, string) ([]netip.Addr, time.Duration, error) {
			return answer, time.Minute, failure
		}}
		look := func(err error, addrs []string, want ...string) {
			t.Helper()
			answer, failure = nil, err
			for _, a := range addrs {
				answer = append(answer, netip.MustParseAddr(a))
			}
			if err := u.Advance(t.Context(), "@/alias.com"); err != nil {
				t.Fatal(err)
			}
			if got := s.addresses(t, "alias.com", "alias.com"); !slices.Equal(got, want) {
				t.Errorf("served: got %v, want %v", got, want)
			}
			s.clock = s.clock.Add(time.Hour)
		}
		broken := errors.New("no answer")
		look(broken, []string{"192.0.2.1"}, "192.0.2.1")
		look(nil, []string{"192.0.2.1", "2001:4860::1"}, "192.0.2.1", "2001:4860::1")
		look(broken, []string{"192.0.2.2"}, "192.0.2.2", "2001:4860::1")
		look(broken, []string{"2001:4860::2"}, "192.0.2.2", "2001:4860::2")
		look(nil, []string{"192.0.2.2"}, "192.0.2.2")
	})
}

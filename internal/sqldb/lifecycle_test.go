package sqldb_test

import (
	"slices"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// What an owner does while the registry is being asked is not undone by what it
// said before, also within one second.
func TestOwnerIsFasterThanTheRegistry(t *testing.T) {
	acts := map[string]func(r *deed.Registration){
		"nameservers": func(r *deed.Registration) { r.Nameservers = []string{"ns1.example.net", "ns2.example.net"} },
		"lock":        func(r *deed.Registration) { r.Locked = !r.Locked },
	}
	for kind, change := range acts {
		t.Run(kind, func(t *testing.T) {
			sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				s := openStall(db)
				s.sell(t, "first.com")
				was, err := s.names.Registration(t.Context(), "first.com")
				if err != nil {
					t.Fatal(err)
				}
				is := was
				change(&is)
				if err := s.names.Act(t.Context(), is, deed.Act{Wallet: was.Owner, Kind: deed.ActKind(kind)}); err != nil {
					t.Fatal(err)
				}
				late := was
				late.Status = deed.StatusExpired
				if written, err := s.names.LiveOn(t.Context(), was, late, nil, s.clock); err != nil || written {
					t.Errorf("written %v, %v", written, err)
				}
				got, err := s.names.Registration(t.Context(), "first.com")
				if err != nil || got.Locked != is.Locked || !slices.Equal(got.Nameservers, is.Nameservers) || got.Status != was.Status {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		})
	}
}

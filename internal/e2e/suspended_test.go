package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/sqldb"
)

// A name that an operator has suspended stays active, and its owner is told why it does
// not resolve.
func TestOwnerIsToldOfSuspension(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		rules := sqldb.Operators{DB: s.db, Now: time.Now, Zones: sqldb.Zones{DB: s.db, Now: time.Now}}
		told := func(warnings []string) bool {
			return slices.ContainsFunc(warnings, func(text string) bool { return strings.Contains(text, "the operator has stopped serving the name") })
		}
		for _, suspended := range []bool{false, true} {
			if suspended {
				if err := rules.SetSuspended(t.Context(), deed.Name("first.com"), true, "phishing"); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.domain(t, "first.com"); got.Status != "active" || told(got.Warnings) != suspended {
				t.Errorf("suspended %v: got %s %q", suspended, got.Status, got.Warnings)
			}
			if got := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)); told(got.Warnings) != suspended {
				t.Errorf("suspended %v: got %q with the records", suspended, got.Warnings)
			}
		}
	})
}

package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A registry's demand to verify the registrant is in the answer about the name, with its
// deadline, is told to the owner once, and its end too.
func TestVerificationIsDemanded(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s, vendor, checker, _ := openWholesaler(t, db)
		owner := s.bought(t, "first.com")
		deadline := s.clock.Now().UTC().Truncate(time.Second).Add(15 * day)
		vendor.DemandVerification("first.com", deadline)
		for range 3 {
			s.pass(t, 2*time.Hour)
		}
		d := s.domain(t, "first.com")
		if d.Verification == nil || d.Verification.DeadlineAt == nil || !d.Verification.DeadlineAt.Equal(deadline) || len(d.Verification.Claims) == 0 || d.Status != "active" {
			t.Fatalf("got %+v, %s", d.Verification, d.Status)
		}
		if !slices.ContainsFunc(d.Warnings, func(w string) bool { return strings.Contains(w, deadline.Format(time.RFC3339)) }) {
			t.Errorf("got %v", d.Warnings)
		}
		vendor.DemandVerification("first.com", time.Time{})
		s.pass(t, 2*time.Hour)
		if d = s.domain(t, "first.com"); d.Verification != nil || len(d.Warnings) != 0 {
			t.Errorf("verified: got %+v, %v", d.Verification, d.Warnings)
		}
		if got := strings.Join(events(d), " "); strings.Count(got, "verification_required") != 1 || strings.Count(got, "verified") != 1 {
			t.Errorf("got %s", got)
		}
		var told []string
		for _, e := range s.events(t, owner, "").Events {
			told = append(told, e.Type)
		}
		if !slices.Contains(told, "domain.verification_required") || !slices.Contains(told, "domain.verified") {
			t.Errorf("the owner was told %v", told)
		}
		for _, v := range checker.Violations() {
			t.Errorf("the vendor's rules are broken: %s", v)
		}
	})
}

// RDAP has the registry's identifier of a name and the country of the registrant of
// record, and follows the profile with them.
func TestRDAPOfAnOutsideRegistry(t *testing.T) {
	e := openEPPEnvWith(t, nil, epptest.Config{Contacts: true}, map[string]string{
		"contacts": "registrant", "registrant_name": "Ada Byron", "registrant_street": "1 Any Street", "registrant_city": "London",
		"registrant_postal_code": "N1", "registrant_country": "gb", "registrant_phone": "+44.2079460000", "registrant_email": "ada@acme.net",
	})
	e.bought(t, "first.com")
	e.runLifecycle(t)
	got := e.get(t, "/rdap/domain/first.com")
	if answer := read[api.RDAPDomain](t, got); answer.Handle != "D1-TEST" {
		t.Errorf("got the handle %q", answer.Handle)
	}
	if !strings.Contains(got.body, `"cc":"GB"`) || strings.Contains(got.body, "Registry Domain ID") {
		t.Errorf("got %s", got.body)
	}
	checkProfile(t, got.body, e.api.PublicURL+"/rdap/domain/first.com")
}

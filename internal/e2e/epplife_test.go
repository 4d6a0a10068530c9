package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// renews is a registry that renews names by itself, as most do.
func openAutoRenewEnv(t *testing.T, db *sqldb.DB) eppEnv {
	t.Helper()
	return openEPPEnvWith(t, db, epptest.Config{AutoRenew: true, RestoreReport: true}, map[string]string{"auto_renew": "true", "restore_report": "true"})
}

// until moves the clock to a time, and lets the worker do what is due.
func (e eppEnv) until(t *testing.T, at time.Time) api.Domain {
	t.Helper()
	e.clock.advance(at.Sub(e.clock.Now()))
	e.told(t)
	return e.domain(t, "first.com")
}

// told reads the messages of the registry, and compares the names that are due.
func (e eppEnv) told(t *testing.T) {
	t.Helper()
	if err := e.app.Messages().Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.runLifecycle(t)
}

// renewals counts the renewals that the registry was asked for.
func (e eppEnv) renewals() int {
	all, _ := e.server.Commands()
	return strings.Count(strings.Join(all, " "), "renew")
}

func (e eppEnv) paysRenewal(t *testing.T, a *account, years int) {
	t.Helper()
	price := comRenewal * deed.USDC(years)
	if g := e.domain(t, "first.com").Grace; g != nil {
		first, err := deed.ParseUSDC(g.Price)
		if err != nil {
			t.Fatal(err)
		}
		price += first - comRenewal
	}
	e.renew(t, "first.com", years, e.promise(a, price).header(t)).expect(t, 200, "")
}

func events(d api.Domain) (types []string) {
	for _, e := range d.Events {
		types = append(types, e.Type)
	}
	return types
}

func expectDomain(t *testing.T, what string, d api.Domain, status string, expires time.Time, event string) {
	t.Helper()
	if d.Status != status || !d.ExpiresAt.Equal(expires) || event != "" && !slices.Contains(events(d), event) {
		t.Errorf("%s: got %s until %s with %v, want %s until %s with %s", what, d.Status, d.ExpiresAt, events(d), status, expires, event)
	}
}

// At a registry that renews by itself nobody gets a free year, no renewal is refused
// because its date is ahead, and a name that nobody paid for is deleted by us at the
// end of its grace period, which begins redemption.
func TestRegistryRenewsByItself(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openAutoRenewEnv(t, db)
		owner := e.bought(t, "first.com")
		paid := e.domain(t, "first.com").ExpiresAt

		expectDomain(t, "in grace", e.until(t, paid.AddDate(0, 0, 3)), "expired", paid, "expired")
		if ahead := e.server.Expires("first.com"); !ahead.Equal(paid.AddDate(1, 0, 0)) {
			t.Fatalf("the registry has %s", ahead)
		}
		e.paysRenewal(t, owner, 1)
		if n := e.renewals(); n != 0 {
			t.Errorf("%d renewals were sent for a year that the registry had added", n)
		}
		paid = paid.AddDate(1, 0, 0)
		expectDomain(t, "renewed in grace", e.until(t, e.clock.Now()), "active", paid, "renewed")

		e.until(t, paid.AddDate(0, 0, 1))
		e.paysRenewal(t, owner, 3)
		if n := e.renewals(); n != 1 || !e.server.Expires("first.com").Equal(paid.AddDate(3, 0, 0)) {
			t.Errorf("%d renewals were sent, the registry has %s", n, e.server.Expires("first.com"))
		}
		paid = paid.AddDate(3, 0, 0)

		expectDomain(t, "grace ends tomorrow", e.until(t, paid.AddDate(0, 0, 29)), "expired", paid, "expired")
		d := e.until(t, paid.AddDate(0, 0, 30))
		expectDomain(t, "unpaid", d, "redemption", paid, "redemption")
		if d.Grace == nil || d.Grace.Phase != "redemption" || !d.Grace.EndsAt.Equal(e.clock.Now().UTC().Truncate(time.Second).AddDate(0, 0, 30)) {
			t.Errorf("got %+v at %s", d.Grace, e.clock.Now())
		}
		e.paysRenewal(t, owner, 1)
		paid = paid.AddDate(1, 0, 0)
		expectDomain(t, "restored", e.until(t, e.clock.Now()), "active", paid, "renewed")
		if got := e.server.Expires("first.com"); !got.Equal(paid) {
			t.Errorf("restored: the registry has %s, the owner paid until %s", got, paid)
		}

		e.until(t, paid.AddDate(0, 0, 30))
		expectDomain(t, "unpaid again", e.until(t, e.clock.Now().Add(time.Hour)), "redemption", paid, "")
		expectDomain(t, "pending delete", e.until(t, paid.AddDate(0, 0, 62)), "pending_delete", paid, "pending_delete")
		e.clock.advance(6 * day)
		e.told(t)
		e.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		e.audit(t)
	})
}

// While a renewal is under way, the name is not deleted; while the registry refuses to
// delete it, it counts as expired and costs no restore.
func TestUnpaidNameIsNotDeleted(t *testing.T) {
	e := openAutoRenewEnv(t, nil)
	owner := e.bought(t, "first.com")
	paid := e.domain(t, "first.com").ExpiresAt
	e.server.SetStatuses("first.com", "serverDeleteProhibited")
	d := e.until(t, paid.AddDate(0, 0, 40))
	expectDomain(t, "it cannot be deleted", d, "expired", paid, "expired")
	if slices.Contains(events(d), "redemption") || d.Grace.Price != comRenewal.String() || !slices.Contains(d.EPPStatus, "serverDeleteProhibited") {
		t.Errorf("got %v, %+v, %v", events(d), d.Grace, d.EPPStatus)
	}
	e.server.SetStatuses("first.com")
	e.paysRenewal(t, owner, 1)
	expectDomain(t, "renewed", e.until(t, e.clock.Now().Add(time.Hour)), "active", paid.AddDate(1, 0, 0), "renewed")
	e.audit(t)
}

// The registry deletes a name before its time: it is in redemption, can be restored,
// and ends when the registry says so.
func TestRegistryDeletesAName(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.bought(t, "first.com")
		paid := e.domain(t, "first.com").ExpiresAt
		e.clock.advance(60 * day)
		deleted := func() {
			t.Helper()
			if err := e.server.DeleteName("first.com"); err != nil {
				t.Fatal(err)
			}
			e.server.Notify(epptest.ClientID, "deleted", `<domain:infData xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>first.com</domain:name></domain:infData>`)
		}
		deleted()
		d := e.until(t, e.clock.Now())
		expectDomain(t, "deleted", d, "redemption", paid, "redemption")
		if slices.Contains(events(d), "expired") || d.Grace.EndsAt.Sub(e.clock.Now()).Round(day) != 30*day {
			t.Errorf("got %v, %+v", events(d), d.Grace)
		}
		e.paysRenewal(t, owner, 1)
		paid = paid.AddDate(1, 0, 0)
		expectDomain(t, "restored and renewed", e.until(t, e.clock.Now()), "active", paid, "renewed")

		e.clock.advance(60 * day)
		deleted()
		expectDomain(t, "deleted again", e.until(t, e.clock.Now()), "redemption", paid, "redemption")
		expectDomain(t, "soon free", e.until(t, e.clock.Now().Add(31*day)), "pending_delete", paid, "pending_delete")
		e.renew(t, "first.com", 1, "").expect(t, 400, deed.CodeValidation)
		e.clock.advance(6 * day)
		e.told(t)
		e.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		e.audit(t)
	})
}

// A hold of the registry is a status with a warning and an event, until it ends.
func TestRegistryHoldsAName(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.bought(t, "first.com")
		e.runLifecycle(t)
		paid := e.domain(t, "first.com").ExpiresAt
		message := func(text string) {
			e.server.NotifyWith(epptest.ClientID, text, `<domain:infData xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>first.com</domain:name></domain:infData>`,
				`<c:changeData xmlns:c="urn:ietf:params:xml:ns:changePoll-1.0" state="after"><c:operation>update</c:operation><c:who>URS Admin</c:who><c:caseId type="urs">urs123</c:caseId><c:reason>URS lock</c:reason></c:changeData>`)
		}
		e.server.SetStatuses("first.com", "serverHold", "serverUpdateProhibited")
		message("held")
		d := e.until(t, e.clock.Now())
		expectDomain(t, "held", d, "suspended", paid, "suspended")
		if !slices.Contains(d.EPPStatus, "serverHold") || !slices.Contains(d.EPPStatus, "serverUpdateProhibited") || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "on hold") {
			t.Errorf("got %v, %v", d.EPPStatus, d.Warnings)
		}
		e.paysRenewal(t, owner, 1) // the registry allows it
		paid = paid.AddDate(1, 0, 0)
		expectDomain(t, "still held", e.until(t, e.clock.Now()), "suspended", paid, "renewed")
		e.server.SetStatuses("first.com")
		d = e.until(t, e.clock.Now().Add(time.Hour))
		expectDomain(t, "released", d, "active", paid, "resumed")
		if slices.Contains(d.EPPStatus, "serverHold") || len(d.Warnings) != 0 {
			t.Errorf("got %v, %v", d.EPPStatus, d.Warnings)
		}
		e.audit(t)
	})
}

// A transfer to another registrar is announced, may be rejected, and ends the
// registration, seen or not.
func TestNameLeavesTheRegistry(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.bought(t, "first.com")
		e.register(t, "second.com", e.promise(owner, comPrice).header(t)).expect(t, 201, "")
		bearer := []string{"Authorization", e.bearer(t, owner)}
		paid := e.domain(t, "first.com").ExpiresAt
		e.clock.advance(61 * day)
		bearer[1] = e.bearer(t, owner)
		leave := func(name string) {
			t.Helper()
			code := read[api.AuthCode](t, e.do(t, "POST", "/domains/"+name+"/authcode", "", bearer...))
			if err := e.outside.Leave(t.Context(), deed.Name(name), deed.Secret(code.AuthCode)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			leave("first.com")
			expectDomain(t, "leaving", e.until(t, e.clock.Now().Add(day)), "transferring", paid, "transfer_out_started")
			if err := e.outside.Decide(t.Context(), "first.com", false); err != nil {
				t.Fatal(err)
			}
			expectDomain(t, "rejected", e.until(t, e.clock.Now().Add(time.Hour)), "active", paid, "transfer_out_stopped")
		}
		if got := events(e.domain(t, "first.com")); strings.Count(strings.Join(got, " "), "transfer_out_started") != 2 {
			t.Errorf("got %v", got)
		}
		leave("first.com")
		e.until(t, e.clock.Now().Add(time.Hour))
		leave("second.com") // and nobody looks until it has left
		for _, name := range []deed.Name{"first.com", "second.com"} {
			if err := e.outside.Decide(t.Context(), name, true); err != nil {
				t.Fatal(err)
			}
		}
		e.clock.advance(2 * day)
		e.told(t)
		e.get(t, "/domains/first.com").expect(t, 404, deed.CodeNotFound)
		e.get(t, "/domains/second.com").expect(t, 404, deed.CodeNotFound)
		e.audit(t)
	})
}

// A host is renamed at the registry: a message says so, and the names that use it have
// the new one.
func TestRegistryRenamesAHost(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner := e.bought(t, "first.com")
		e.do(t, "PUT", "/domains/first.com/nameservers", `{"nameservers":["ns1.elsewhere.net","ns2.elsewhere.net"]}`, "Authorization", e.bearer(t, owner)).expect(t, 200, "")
		e.clock.advance(time.Hour)
		e.runLifecycle(t)
		if err := e.server.RenameHost("ns1.elsewhere.net", "ns1.dropped-elsewhere.biz"); err != nil {
			t.Fatal(err)
		}
		e.server.Notify(epptest.ClientID, "renamed", `<host:infData xmlns:host="urn:ietf:params:xml:ns:host-1.0"><host:name>NS1.elsewhere.net.</host:name></host:infData>`)
		d := e.until(t, e.clock.Now())
		if !slices.Equal(d.Nameservers, []string{"ns1.dropped-elsewhere.biz", "ns2.elsewhere.net"}) || !slices.Contains(events(d), "corrected_by_registry") {
			t.Errorf("got %v with %v", d.Nameservers, events(d))
		}
	})
}

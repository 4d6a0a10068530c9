package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Over EPP a hand-over locks the name and invalidates the code that the old owner has,
// and the DS of a name that is served elsewhere is at the registry.
func TestOwnersOverEPP(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		owner, heir := e.bought(t, "first.com"), newAccount(t)
		e.clock.advance(61 * day)
		bearer := []string{"Authorization", e.bearer(t, owner)}
		e.do(t, "PUT", "/domains/first.com/nameservers", `{"nameservers":["ns1.elsewhere.net","ns2.elsewhere.net"],"force":true}`, bearer...).expect(t, 200, "")
		ds := fmt.Sprintf(`{"ds":[{"keyTag":4711,"algorithm":13,"digestType":2,"digest":"%064x"}],"force":true}`, 7)
		e.do(t, "PUT", "/domains/first.com/ds", ds, bearer...).expect(t, 200, "")
		if h, err := e.outside.Holding(t.Context(), "first.com"); err != nil || len(h.DS) != 1 || h.DS[0].KeyTag != 4711 {
			t.Errorf("DS: got %+v, %v", h.DS, err)
		}
		code := read[api.AuthCode](t, e.do(t, "POST", "/domains/first.com/authcode", "", bearer...))
		e.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet), bearer...).expect(t, 200, "")
		if h, err := e.outside.Holding(t.Context(), "first.com"); err != nil || !h.Locked {
			t.Errorf("handed over: got %+v, %v", h, err)
		}
		e.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, bearer...).expect(t, 403, deed.CodeOwnershipDenied)
		e.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", e.bearer(t, heir)).expect(t, 200, "")
		if err := e.outside.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err == nil {
			t.Error("the old owner's code is still good")
		}
		e.clock.advance(2 * time.Minute)
		e.runLifecycle(t)
		if d := e.domain(t, "first.com"); d.WalletAddress != string(heir.wallet) || d.Locked || len(d.DNSSEC.DS) != 1 {
			t.Errorf("got %+v", d)
		}
		e.audit(t)
	})
}

// A registry without a list is asked about each name, and every difference is found.
func TestReconcileOverEPP(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		for _, name := range []string{"same.com", "lock.com", "gone.com"} {
			e.bought(t, name)
		}
		reconcile := func() (found map[deed.Name]lifecycle.DifferenceKind) {
			t.Helper()
			r := e.app.Reconciler()
			r.Pause = func(context.Context) {} // nothing changes meanwhile
			all, err := r.Run(t.Context())
			if err != nil || all.Stored != 3 {
				t.Errorf("got %+v, %v", all, err)
			}
			found = map[deed.Name]lifecycle.DifferenceKind{}
			for _, d := range all.Differences {
				found[d.Name] = d.What
			}
			return found
		}
		if found := reconcile(); len(found) != 0 {
			t.Errorf("got %v", found)
		}
		if err := e.outside.SetLock(t.Context(), "lock.com", false); err != nil {
			t.Fatal(err)
		}
		if err := e.outside.Delete(t.Context(), "gone.com"); err != nil {
			t.Fatal(err)
		}
		want := map[deed.Name]lifecycle.DifferenceKind{"lock.com": lifecycle.DiffersLock, "gone.com": lifecycle.DiffersMissing}
		if found := reconcile(); fmt.Sprint(found) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", found, want)
		}
	})
}

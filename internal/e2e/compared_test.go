package e2e_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// The age of the comparison is that of the name that was compared first; a registry that
// does not answer does not make it younger.
func TestComparisonsAreDated(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		e := openEPPEnv(t, db)
		type seen struct{ compared, differing int }
		counts := map[string]seen{}
		e.lifecycle.Observe = func(backend string, differs bool) {
			c := counts[backend]
			if c.compared++; differs {
				c.differing++
			}
			counts[backend] = c
		}
		age := func(backend string) time.Duration {
			t.Helper()
			since, err := sqldb.Registrations{DB: e.db, Now: e.clock.Now}.Compared(t.Context(), backend)
			if err != nil {
				t.Fatal(err)
			}
			if since.IsZero() {
				return 0
			}
			return e.clock.Now().Sub(since)
		}
		if got := age("outside"); got != 0 {
			t.Errorf("without names: got %s", got)
		}
		owner := e.bought(t, "first.com")
		e.runLifecycle(t)
		if got := age("outside"); got > time.Hour || counts["outside"] != (seen{compared: 1}) {
			t.Errorf("compared: got %s, %+v", got, counts)
		}
		e.server.Break(epptest.Fault{Kind: epptest.Refuse, Code: 2400, Times: 100, Only: []string{"info"}})
		for range 3 {
			e.pass(t, 25*time.Hour)
		}
		if got := age("outside"); got < 75*time.Hour || counts["outside"].compared != 1 {
			t.Errorf("without answers: got %s, %+v", got, counts)
		}
		e.server.Break(epptest.Fault{})
		if err := e.outside.SetLock(t.Context(), "first.com", false); err != nil { // not by us
			t.Fatal(err)
		}
		e.pass(t, time.Hour)
		if got := age("outside"); got > time.Hour || counts["outside"] != (seen{compared: 2, differing: 1}) {
			t.Errorf("compared again: got %s, %+v", got, counts)
		}
		e.register(t, "other.dev", e.promise(owner, e.price(t, "other.dev")).header(t)).expect(t, 201, "")
		if got := age("local"); got > time.Hour {
			t.Errorf("another registrar: got %s", got)
		}
	})
}

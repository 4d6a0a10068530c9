package e2e_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/logtest"
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

// A name that its registry has put on hold, and then does not hold any more, is reported as
// missing like any other.
func TestMissingNameThatWasOnHoldIsReported(t *testing.T) {
	var log logtest.Buffer
	e := openEPPEnv(t, nil, logged(&log))
	e.bought(t, "first.com")
	e.server.SetStatuses("first.com", "serverHold")
	e.pass(t, 25*time.Hour)
	missing := func() int {
		t.Helper()
		n, err := sqldb.Registrations{DB: e.db, Now: e.clock.Now}.Missing(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := e.domain(t, "first.com"); got.Status != string(lifecycle.StatusSuspended) || missing() != 0 {
		t.Fatalf("on hold it is %s, and %d names are missing", got.Status, missing())
	}
	e.server.Break(epptest.Fault{Kind: epptest.Refuse, Code: 2303, Times: 100, Only: []string{"info"}})
	for range 3 {
		e.pass(t, 25*time.Hour)
	}
	if n := strings.Count(log.String(), "not in our account at its registry"); n != 1 || missing() != 1 {
		t.Errorf("%d names are missing, and it was reported %d times:\n%s", missing(), n, log.String())
	}
}

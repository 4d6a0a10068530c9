package registry_test

import (
	"slices"
	"testing"
	"time"

	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
)

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}

// Each phase begins exactly at its second, across leap days and ends of months.
func TestPhaseBoundaries(t *testing.T) {
	for _, c := range []struct {
		expires                         time.Time
		grace                           int
		redemption, pendingDelete, gone time.Time
	}{
		{date(2027, time.January, 1), 45, date(2027, time.February, 15), date(2027, time.March, 17), date(2027, time.March, 22)},
		{date(2028, time.January, 1), 45, date(2028, time.February, 15), date(2028, time.March, 16), date(2028, time.March, 21)}, // a leap year
		{date(2027, time.November, 15), 45, date(2027, time.December, 30), date(2028, time.January, 29), date(2028, time.February, 3)},
		{date(2028, time.February, 29), 30, date(2028, time.March, 30), date(2028, time.April, 29), date(2028, time.May, 4)},
		{date(2027, time.January, 31), 0, date(2027, time.January, 31), date(2027, time.March, 2), date(2027, time.March, 7)},
		{date(2100, time.February, 28), 1, date(2100, time.March, 1), date(2100, time.March, 31), date(2100, time.April, 5)}, // not a leap year
	} {
		e := registry.Entry{Reference: "a", Expires: c.expires, GraceDays: c.grace}
		before := lifecycle.PhaseActive
		for _, b := range []struct {
			at    time.Time
			phase lifecycle.Phase
		}{{c.expires, lifecycle.PhaseGrace}, {c.redemption, lifecycle.PhaseRedemption}, {c.pendingDelete, lifecycle.PhasePendingDelete}, {c.gone, lifecycle.PhaseGone}} {
			if b.phase == lifecycle.PhaseGrace && c.grace == 0 {
				continue
			}
			if got := e.Phase(b.at.Add(-time.Second)); got != before {
				t.Errorf("expires %s: a second before %s: got %s, want %s", c.expires, b.at, got, before)
			}
			if got := e.Phase(b.at); got != b.phase {
				t.Errorf("expires %s: at %s: got %s, want %s", c.expires, b.at, got, b.phase)
			}
			before = b.phase
		}
		if !e.FreeAt().Equal(c.gone) {
			t.Errorf("expires %s: free at %s, want %s", c.expires, e.FreeAt(), c.gone)
		}
	}
	if (registry.Entry{}).HeldAt(time.Time{}.AddDate(-1, 0, 0)) {
		t.Error("a name that was never registered is held")
	}
}

// The statuses are those of RFC 5731 and RFC 3915, and ok is never combined with
// another one of the former (RFC 5731, 2.3).
func TestEPPStatus(t *testing.T) {
	created := date(2026, time.January, 31)
	expires := date(2027, time.January, 31)
	for name, c := range map[string]struct {
		at   time.Time
		e    registry.Entry
		want []string
	}{
		"new":              {created, registry.Entry{}, []string{"serverTransferProhibited", "addPeriod"}},
		"new and locked":   {created.AddDate(0, 0, 5).Add(-1), registry.Entry{Locked: true}, []string{"clientTransferProhibited", "serverTransferProhibited", "addPeriod"}},
		"add grace over":   {created.AddDate(0, 0, 5), registry.Entry{}, []string{"serverTransferProhibited"}},
		"old enough":       {created.AddDate(0, 0, 60), registry.Entry{}, []string{"ok"}},
		"locked":           {created.AddDate(0, 0, 60), registry.Entry{Locked: true}, []string{"clientTransferProhibited"}},
		"leaving":          {created.AddDate(0, 0, 60), registry.Entry{Transfer: "b"}, []string{"pendingTransfer"}},
		"moved":            {created.AddDate(0, 0, 100), registry.Entry{Moved: created.AddDate(0, 0, 98)}, []string{"serverTransferProhibited", "transferPeriod"}},
		"grace":            {expires, registry.Entry{}, []string{"ok", "autoRenewPeriod"}},
		"redemption":       {expires.AddDate(0, 0, 45), registry.Entry{}, []string{"serverHold", "pendingDelete", "redemptionPeriod"}},
		"locked until end": {expires.AddDate(0, 0, 75), registry.Entry{Locked: true}, []string{"clientTransferProhibited", "serverHold", "pendingDelete"}},
	} {
		c.e.Reference, c.e.Created, c.e.Expires, c.e.GraceDays = "a", created, expires, 45
		if got := c.e.EPPStatus(c.at); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

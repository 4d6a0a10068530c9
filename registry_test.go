package deed_test

import (
	"testing"
	"time"

	"deed.example/deed"
)

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}

func TestNameIsFreeAfterItsLastDay(t *testing.T) {
	for _, c := range []struct{ expires, free time.Time }{
		{date(2027, time.January, 1), date(2027, time.March, 22)},
		{date(2028, time.January, 1), date(2028, time.March, 21)}, // a leap year
		{date(2027, time.November, 15), date(2028, time.February, 3)},
	} {
		e := deed.RegistryEntry{Reference: "a", Expires: c.expires}
		if got := e.FreeAt(); !got.Equal(c.free) {
			t.Errorf("expired %s: got free at %s, want %s", c.expires, got, c.free)
		}
		if !e.HeldAt(c.free.Add(-time.Second)) || e.HeldAt(c.free) {
			t.Errorf("expired %s: held or free on the wrong side of %s", c.expires, c.free)
		}
	}
	if (deed.RegistryEntry{}).HeldAt(time.Time{}.AddDate(-1, 0, 0)) {
		t.Error("a name that nobody ever had is held")
	}
}

func TestPlacementExecutes(t *testing.T) {
	due := date(2028, time.February, 29)
	p := deed.Placement{
		RegistryOrder: deed.RegistryOrder{Reference: "new", Name: "example.dev", Years: 2},
		Account:       "ours", State: deed.PlacementPlaced, Due: due,
	}
	mine := deed.RegistryEntry{Name: "example.dev", Reference: "new", Account: "ours", Created: due, Expires: date(2030, time.March, 1)}
	other := deed.RegistryEntry{Name: "example.dev", Reference: "old", Account: "theirs", Expires: due}
	lapsed := other
	lapsed.Expires = due.AddDate(-1, 0, 0)
	for name, c := range map[string]struct {
		held, want deed.RegistryEntry
		state      deed.PlacementState
		refusal    deed.Code
	}{
		"never held": {deed.RegistryEntry{}, mine, deed.PlacementDone, ""},
		"held":       {other, other, deed.PlacementRefused, deed.CodeDomainUnavailable},
		"free again": {lapsed, mine, deed.PlacementDone, ""},
	} {
		got, entry := p.Execute(c.held)
		if got.State != c.state || got.Refusal != c.refusal || entry != c.want {
			t.Errorf("%s: got %s %s and %+v, want %s and %+v", name, got.State, got.Refusal, entry, c.state, c.want)
		}
	}
}

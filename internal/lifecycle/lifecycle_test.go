package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// Phase boundaries are exact to the second, also across leap days.
func TestPhaseAt(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		expires time.Time
		grace   int
		at      time.Time
		want    lifecycle.Phase
		ends    time.Time
	}{
		{date(2028, time.February, 29), 45, date(2028, time.February, 29).Add(-second), lifecycle.PhaseActive, date(2028, time.February, 29)},
		{date(2028, time.February, 29), 45, date(2028, time.February, 29), lifecycle.PhaseGrace, date(2028, time.April, 14)},
		{date(2028, time.February, 28), 1, date(2028, time.February, 29), lifecycle.PhaseRedemption, date(2028, time.March, 30)},
		{date(2027, time.February, 28), 1, date(2027, time.March, 1), lifecycle.PhaseRedemption, date(2027, time.March, 31)},
		{date(2028, time.January, 15), 45, date(2028, time.March, 29), lifecycle.PhaseRedemption, date(2028, time.March, 30)},
		{date(2028, time.January, 15), 45, date(2028, time.March, 30), lifecycle.PhasePendingDelete, date(2028, time.April, 4)},
		{date(2028, time.January, 15), 45, date(2028, time.April, 4).Add(-second), lifecycle.PhasePendingDelete, date(2028, time.April, 4)},
		{date(2028, time.January, 15), 45, date(2028, time.April, 4), lifecycle.PhaseGone, date(2028, time.April, 4)},
		{date(2027, time.March, 1), 0, date(2027, time.March, 1), lifecycle.PhaseRedemption, date(2027, time.March, 31)}, // no grace at all
		{date(2027, time.March, 1), 45, date(2127, time.March, 1), lifecycle.PhaseGone, date(2027, time.May, 20)},
	} {
		if got, ends := lifecycle.PhaseAt(c.expires, c.grace, c.at); got != c.want || !ends.Equal(c.ends) {
			t.Errorf("expired %s with %d days, at %s: got %s until %s, want %s until %s", c.expires, c.grace, c.at, got, ends, c.want, c.ends)
		}
	}
}

// eventTypes returns the types of events, in their order.
func eventTypes(events []lifecycle.Event) string {
	var words []string
	for _, e := range events {
		words = append(words, string(e.Type))
	}
	return strings.Join(words, " ")
}

// The events of a name up to a day, and the time of its next transition.
// 2028 is a leap year: 30 days before the first of March is not 30 January.
func TestStateAt(t *testing.T) {
	expires := date(2028, time.March, 1)
	r := lifecycle.Registration{Name: "example.com", Reference: "a", Status: lifecycle.StatusActive, Created: date(2027, time.March, 1), Expires: expires}
	const notices = "expires_in_30_days expires_in_7_days expires_in_1_day"
	for _, c := range []struct {
		at     time.Time
		status lifecycle.Status
		events string
		next   time.Time
	}{
		{date(2027, time.March, 1), lifecycle.StatusActive, "", date(2028, time.January, 31)},
		{date(2028, time.January, 31).Add(-time.Second), lifecycle.StatusActive, "", date(2028, time.January, 31)},
		{date(2028, time.January, 31), lifecycle.StatusActive, "expires_in_30_days", date(2028, time.February, 23)},
		{date(2028, time.February, 23), lifecycle.StatusActive, "expires_in_30_days expires_in_7_days", date(2028, time.February, 29)},
		{date(2028, time.February, 29), lifecycle.StatusActive, notices, expires},
		{expires, lifecycle.StatusExpired, notices + " expired", date(2028, time.March, 4)},
		{date(2028, time.March, 4), lifecycle.StatusExpired, notices + " expired_3_days_ago expired", date(2028, time.April, 15)},
		{date(2028, time.April, 15), lifecycle.StatusRedemption, notices + " expired_3_days_ago expired redemption", date(2028, time.May, 15)},
		{date(2028, time.May, 15), lifecycle.StatusPendingDelete, notices + " expired_3_days_ago expired redemption pending_delete", date(2028, time.May, 20)},
		{date(2028, time.May, 20), "", notices + " expired_3_days_ago expired redemption pending_delete deleted", date(2028, time.May, 20)},
	} {
		l := r.StateAt(c.at, 45)
		if l.Status != c.status || eventTypes(l.Events) != c.events || !l.Next.Equal(c.next) {
			t.Errorf("%s: got %s [%s], next %s; want %s [%s], next %s", c.at, l.Status, eventTypes(l.Events), l.Next, c.status, c.events, c.next)
		}
		for _, e := range l.Events {
			if e.At.After(c.at) || e.Name != r.Name || e.Reference != r.Reference || !e.About.Equal(expires) {
				t.Errorf("%s: got %+v", c.at, e)
			}
		}
		if again := r.StateAt(c.at, 45); eventTypes(again.Events) != eventTypes(l.Events) {
			t.Errorf("%s: second call: got %s", c.at, eventTypes(again.Events))
		}
	}
}

// No notice is emitted for a day before the name was registered here.
func TestNoNoticesFromBeforeRegistration(t *testing.T) {
	expires := date(2028, time.March, 1)
	r := lifecycle.Registration{Name: "example.com", Created: expires.AddDate(0, 0, -10), Expires: expires}
	if l := r.StateAt(expires.AddDate(0, 0, -5), 45); eventTypes(l.Events) != "expires_in_7_days" {
		t.Errorf("got %s", eventTypes(l.Events))
	}
}

// A name keeps the status transferring while it is active; after its expiry the
// phase decides.
func TestStateWhileTransferring(t *testing.T) {
	expires := date(2028, time.March, 1)
	r := lifecycle.Registration{Name: "example.com", Status: lifecycle.StatusTransferring, Created: date(2027, time.March, 1), Expires: expires}
	if l := r.StateAt(expires.Add(-time.Second), 45); l.Status != lifecycle.StatusTransferring {
		t.Errorf("got %s", l.Status)
	}
	if l := r.StateAt(expires, 45); l.Status != lifecycle.StatusExpired {
		t.Errorf("got %s", l.Status)
	}
}

// The registry's record wins, and is an event only when it differs.
func TestCorrected(t *testing.T) {
	now := date(2027, time.June, 1)
	hosts, keys := []string{"ns1.example.net", "ns2.example.net"}, []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "aa"}}
	r := lifecycle.Registration{Name: "example.com", Owner: "0x01", Reference: "a", Status: lifecycle.StatusActive, Expires: date(2028, time.March, 1), Locked: true, Nameservers: hosts, DS: keys}
	same := lifecycle.Holding{Name: r.Name, Expires: r.Expires, Locked: true, Nameservers: hosts, DS: keys}
	for name, c := range map[string]struct {
		change func(*lifecycle.Holding)
		want   func(*lifecycle.Registration)
	}{
		"nothing":          {func(*lifecycle.Holding) {}, func(*lifecycle.Registration) {}},
		"no date":          {func(h *lifecycle.Holding) { h.Expires = time.Time{} }, func(*lifecycle.Registration) {}},
		"another zone":     {func(h *lifecycle.Holding) { h.Expires = h.Expires.In(time.FixedZone("", 3600)) }, func(*lifecycle.Registration) {}},
		"a reference":      {func(h *lifecycle.Holding) { h.Reference = "b" }, func(*lifecycle.Registration) {}}, // the lifecycle decides about that
		"a later expiry":   {func(h *lifecycle.Holding) { h.Expires = date(2029, time.March, 1) }, func(r *lifecycle.Registration) { r.Expires = date(2029, time.March, 1) }},
		"an earlier one":   {func(h *lifecycle.Holding) { h.Expires = date(2027, time.March, 1) }, func(r *lifecycle.Registration) { r.Expires = date(2027, time.March, 1) }},
		"unlocked":         {func(h *lifecycle.Holding) { h.Locked = false }, func(r *lifecycle.Registration) { r.Locked = false }},
		"no name servers":  {func(h *lifecycle.Holding) { h.Nameservers = nil }, func(r *lifecycle.Registration) { r.Nameservers = nil }},
		"in another order": {func(h *lifecycle.Holding) { h.Nameservers = []string{hosts[1], hosts[0]} }, func(*lifecycle.Registration) {}},
		"unsigned":         {func(h *lifecycle.Holding) { h.DS = nil }, func(r *lifecycle.Registration) { r.DS = nil }},
	} {
		h, want := same, r
		c.change(&h)
		c.want(&want)
		got, events := r.Corrected(h, now)
		if !got.Equal(want) || got.Owner != r.Owner || got.Reference != r.Reference {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
		if changed := !want.Equal(r); (eventTypes(events) == "corrected_by_registry") != changed || len(events) > 1 {
			t.Errorf("%s: got %s, changed is %v", name, eventTypes(events), changed)
		}
	}
}

// "ok" stands alone, or not at all (RFC 5731, 2.3).
func TestEPPStatusOfARegistration(t *testing.T) {
	for _, c := range []struct {
		status lifecycle.Status
		locked bool
		want   string
	}{
		{lifecycle.StatusActive, false, "ok"},
		{lifecycle.StatusActive, true, "clientTransferProhibited"},
		{lifecycle.StatusExpired, true, "autoRenewPeriod clientTransferProhibited"},
		{lifecycle.StatusRedemption, false, "pendingDelete redemptionPeriod serverHold"},
		{lifecycle.StatusPendingDelete, true, "pendingDelete serverHold clientTransferProhibited"},
		{lifecycle.StatusTransferring, false, "pendingTransfer"},
		{lifecycle.StatusSuspended, false, "serverHold"},
	} {
		got := lifecycle.Registration{Status: c.status, Locked: c.locked}.EPPStatus()
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s, locked %v: got %v, want %s", c.status, c.locked, got, c.want)
		}
		if slices.Contains(got, "ok") && len(got) > 1 {
			t.Errorf("%s: ok stands beside others (RFC 5731, 2.3): %v", c.status, got)
		}
	}
}

// A name does not resolve from redemption on, nor while its ownership is unclear.
func TestResolves(t *testing.T) {
	for status, want := range map[lifecycle.Status]bool{
		lifecycle.StatusActive: true, lifecycle.StatusExpired: true, lifecycle.StatusTransferring: true,
		lifecycle.StatusPending: false, lifecycle.StatusRedemption: false, lifecycle.StatusPendingDelete: false, lifecycle.StatusTransferred: false, lifecycle.StatusSuspended: false,
	} {
		if status.Resolves() != want {
			t.Errorf("%s: got %v", status, !want)
		}
	}
}

func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 12, 0, 0, 0, time.UTC)
}

// What the registry says about the phase counts where it differs from the calendar.
func TestStateByTheRegistry(t *testing.T) {
	expires := date(2028, time.March, 1)
	r := lifecycle.Registration{Name: "example.com", Reference: "a", Created: date(2027, time.March, 1), Expires: expires}
	for title, c := range map[string]struct {
		at     time.Time
		word   lifecycle.Phase
		later  time.Duration // the state is asked for this long after the registry
		status lifecycle.Status
		ends   time.Time
		events string
	}{
		"agrees":                  {date(2027, time.June, 1), lifecycle.PhaseActive, 0, lifecycle.StatusActive, expires, ""},
		"does not say":            {date(2028, time.April, 20), "", 0, lifecycle.StatusRedemption, date(2028, time.May, 15), "expired redemption"},
		"deletes early":           {date(2027, time.June, 1), lifecycle.PhaseRedemption, 0, lifecycle.StatusRedemption, date(2027, time.July, 1), "redemption"},
		"deletes early, later":    {date(2027, time.June, 1), lifecycle.PhaseRedemption, 40 * 24 * time.Hour, lifecycle.StatusRedemption, date(2027, time.July, 1), "redemption"},
		"is about to delete":      {date(2027, time.June, 1), lifecycle.PhasePendingDelete, 0, lifecycle.StatusPendingDelete, date(2027, time.June, 6), "pending_delete"},
		"deletes in grace":        {date(2028, time.March, 2), lifecycle.PhaseRedemption, 0, lifecycle.StatusRedemption, date(2028, time.April, 1), "expired redemption"},
		"keeps it longer":         {date(2028, time.April, 20), lifecycle.PhaseGrace, 0, lifecycle.StatusExpired, date(2028, time.April, 21), "expired"},
		"keeps it, active":        {date(2028, time.June, 20), lifecycle.PhaseActive, 0, lifecycle.StatusExpired, date(2028, time.June, 21), "expired"},
		"keeps it in redemption":  {date(2028, time.May, 17), lifecycle.PhaseRedemption, 0, lifecycle.StatusRedemption, date(2028, time.June, 16), "expired redemption"},
		"calls it expired early":  {date(2028, time.February, 20), lifecycle.PhaseGrace, 0, lifecycle.StatusActive, expires, ""},
		"calls it expired on day": {expires, lifecycle.PhaseActive, 0, lifecycle.StatusExpired, date(2028, time.April, 15), "expired"},
	} {
		is := r
		is.Registry = r.RegistryState(lifecycle.Holding{Phase: c.word}, 45, c.at)
		again := is.RegistryState(lifecycle.Holding{Phase: c.word}, 45, c.at.Add(time.Hour))
		if again.Since != is.Registry.Since {
			t.Errorf("%s: the phase began at %s, and then at %s", title, is.Registry.Since, again.Since)
		}
		got := is.StateAt(c.at.Add(c.later), 45)
		var types []lifecycle.Event
		for _, e := range got.Events {
			if !strings.HasPrefix(string(e.Type), "expire") || e.Type == lifecycle.EventExpired {
				types = append(types, e)
			}
		}
		if got.Status != c.status || !got.Ends.Equal(c.ends) || eventTypes(types) != c.events {
			t.Errorf("%s: got %s until %s with [%s], want %s until %s with [%s]", title, got.Status, got.Ends, eventTypes(types), c.status, c.ends, c.events)
		}
	}
}

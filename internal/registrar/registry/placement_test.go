package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

func TestRegistrationExecutes(t *testing.T) {
	due := date(2028, time.February, 29)
	p := registry.Placement{
		Order:   registrar.Order{Kind: registrar.OrderRegister, Reference: "new", Name: "example.dev", Years: 2, Nameservers: []string{"a.example.com", "b.example.com"}},
		Account: "own", State: registry.PlacementPlaced, Due: due, GraceDays: 30,
	}
	mine := registry.Entry{
		Name: "example.dev", Reference: "new", Account: "own", Created: due, Expires: date(2030, time.March, 1),
		GraceDays: 30, Locked: true, Nameservers: []string{"a.example.com", "b.example.com"},
	}
	other := registry.Entry{Name: "example.dev", Reference: "old", Account: "other", Expires: due, DS: []dnssec.DS{{KeyTag: 1}}}
	lapsed := other
	lapsed.Expires = due.AddDate(-1, 0, 0)
	for name, c := range map[string]struct {
		held, want registry.Entry
		state      registry.PlacementState
		refusal    deed.Code
	}{
		"never held": {registry.Entry{}, mine, registry.PlacementDone, ""},
		"held":       {other, other, registry.PlacementRefused, deed.CodeDomainUnavailable},
		"free again": {lapsed, mine, registry.PlacementDone, ""},
	} {
		got, entry := p.Execute(c.held)
		if diff := cmp.Diff(c.want, entry); got.State != c.state || got.Refusal != c.refusal || diff != "" {
			t.Errorf("%s: got %s %s, want %s: %s", name, got.State, got.Refusal, c.state, diff)
		}
	}
}

// A renewal adds its years only to the expiry that it was ordered for.
func TestRenewalExecutes(t *testing.T) {
	expires := date(2028, time.February, 29)
	for name, c := range map[string]struct {
		due     time.Time
		years   int
		change  func(*registry.Placement, *registry.Entry)
		want    time.Time // zero when refused
		refusal deed.Code
		says    string
	}{
		"leap day":             {date(2028, time.February, 1), 1, nil, date(2029, time.March, 1), "", ""},
		"leap day to leap day": {date(2028, time.February, 1), 4, nil, date(2032, time.February, 29), "", ""},
		"ten years ahead":      {date(2028, time.March, 1), 10, nil, date(2038, time.March, 1), "", ""},
		"a second more":        {date(2028, time.March, 1).Add(-time.Second), 10, nil, time.Time{}, deed.CodeRegistrationFailed, "10 years ahead"},
		"last second of grace": {expires.AddDate(0, 0, 45).Add(-time.Second), 1, nil, date(2029, time.March, 1), "", ""},
		"redemption":           {expires.AddDate(0, 0, 45), 1, nil, time.Time{}, deed.CodeRegistrationFailed, "restores it"},
		"restored":             {expires.AddDate(0, 0, 75).Add(-time.Second), 1, restore, date(2029, time.March, 1), "", ""},
		"too late to restore":  {expires.AddDate(0, 0, 75), 1, restore, time.Time{}, deed.CodeRegistrationFailed, "about to be deleted"},
		"gone":                 {expires.AddDate(0, 0, 80), 1, restore, time.Time{}, deed.CodeNotFound, "not in our account"},
		"nothing to restore":   {expires, 1, restore, time.Time{}, deed.CodeRegistrationFailed, "not in redemption"},
		"from another expiry":  {expires, 1, func(p *registry.Placement, _ *registry.Entry) { p.From = p.From.AddDate(-1, 0, 0) }, time.Time{}, deed.CodeValidation, "2028-02-29T12:00:00Z"},
		"another account":      {expires, 1, func(_ *registry.Placement, e *registry.Entry) { e.Account = "other" }, time.Time{}, deed.CodeNotFound, "not in our account"},
		"while it is leaving":  {expires, 1, func(_ *registry.Placement, e *registry.Entry) { e.Transfer = "b" }, time.Time{}, deed.CodeRegistrationFailed, "being transferred"},
		"never registered":     {expires, 1, func(_ *registry.Placement, e *registry.Entry) { *e = registry.Entry{} }, time.Time{}, deed.CodeNotFound, "not in our account"},
	} {
		p := registry.Placement{Order: registrar.Order{Kind: registrar.OrderRenew, Reference: "b", Name: "example.dev", Years: c.years, From: expires}, Account: "own", State: registry.PlacementPlaced, Due: c.due, GraceDays: 45}
		held := registry.Entry{Name: "example.dev", Reference: "a", Account: "own", Created: date(2027, time.March, 1), Expires: expires, GraceDays: 45}
		if c.change != nil {
			c.change(&p, &held)
		}
		want := held
		if !c.want.IsZero() {
			want.Expires = c.want
		}
		got, entry := p.Execute(held)
		if (got.State == registry.PlacementDone) == c.want.IsZero() || got.Refusal != c.refusal || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: got %s %s %q, want %q", name, got.State, got.Refusal, got.Reason, c.refusal)
		}
		if diff := cmp.Diff(want, entry); diff != "" || !got.Expires.Equal(c.want) {
			t.Errorf("%s: left %s: %s", name, got.Expires, diff)
		}
	}
}

func restore(p *registry.Placement, _ *registry.Entry) { p.Restore = true }

func transferOrder(due time.Time) registry.Placement {
	return registry.Placement{Order: registrar.Order{Kind: registrar.OrderTransfer, Reference: "b", Name: "example.dev", Years: 1}, AuthHash: "code", Account: "own", State: registry.PlacementPlaced, Due: due, GraceDays: 45}
}

func TestTransferAccept(t *testing.T) {
	created := date(2027, time.March, 1)
	for name, c := range map[string]struct {
		due     time.Time
		change  func(*registry.Entry)
		refusal deed.Code
		says    string
	}{
		"old enough":             {created.AddDate(0, 0, 60), nil, "", ""},
		"too young":              {created.AddDate(0, 0, 60).Add(-time.Second), nil, deed.CodeRegistrationFailed, "60 days"},
		"moved lately":           {created.AddDate(0, 0, 90), func(e *registry.Entry) { e.Moved = created.AddDate(0, 0, 89) }, deed.CodeRegistrationFailed, "60 days"},
		"wrong code":             {created, func(e *registry.Entry) { e.AuthHash = "other" }, deed.CodeValidation, "code"},
		"no code":                {created, func(e *registry.Entry) { e.AuthHash = "" }, deed.CodeValidation, "code"},
		"locked":                 {created.AddDate(0, 0, 60), func(e *registry.Entry) { e.Locked = true }, deed.CodeRegistrationFailed, "unlock"},
		"already in the account": {created.AddDate(0, 0, 60), func(e *registry.Entry) { e.Account = "own" }, deed.CodeRegistrationFailed, "already"},
		"leaving already":        {created.AddDate(0, 0, 60), func(e *registry.Entry) { e.Transfer = "c" }, deed.CodeRegistrationFailed, "another transfer"},
		"in grace":               {created.AddDate(1, 0, 40).Add(-time.Second), nil, "", ""},
		"ends in grace":          {created.AddDate(1, 0, 40), nil, deed.CodeRegistrationFailed, "expired"},
		"in redemption":          {created.AddDate(1, 0, 45), nil, deed.CodeRegistrationFailed, "expired"},
		"gone":                   {created.AddDate(1, 0, 80), nil, deed.CodeNotFound, "register it"},
		"never registered":       {created, func(e *registry.Entry) { *e = registry.Entry{} }, deed.CodeNotFound, "register it"},
	} {
		held := registry.Entry{Name: "example.dev", Reference: "a", Account: "other", Created: created, Expires: date(2028, time.March, 1), GraceDays: 45, AuthHash: "code"}
		if c.change != nil {
			c.change(&held)
		}
		got, entry := transferOrder(c.due).Execute(held)
		if got.Refusal != c.refusal || !strings.Contains(got.Reason, c.says) || got.Pending() != (c.refusal == "") {
			t.Errorf("%s: got %s %s %q, want %q", name, got.State, got.Refusal, got.Reason, c.refusal)
		}
		if got.Pending() {
			held.Transfer = "b"
			if !got.Due.Equal(c.due.AddDate(0, 0, 5)) || !got.Accepted.Equal(c.due) {
				t.Errorf("%s: pending from %s to %s", name, got.Accepted, got.Due)
			}
		}
		if diff := cmp.Diff(held, entry); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A transfer adds one year, but never beyond ten years from now, and never shortens
// the term.
func TestTransferExecutes(t *testing.T) {
	due := date(2028, time.February, 29)
	for _, c := range []struct{ expires, want time.Time }{
		{date(2028, time.March, 1), date(2029, time.March, 1)},
		{date(2028, time.February, 29), date(2029, time.March, 1)},
		{date(2037, time.March, 1), date(2038, time.March, 1)},
		{date(2037, time.June, 1), date(2038, time.March, 1)},
		{date(2038, time.March, 1), date(2038, time.March, 1)},
		{date(2038, time.March, 2), date(2038, time.March, 2)},
	} {
		p := transferOrder(due)
		p.Accepted = due.AddDate(0, 0, -5)
		held := registry.Entry{Name: "example.dev", Reference: "a", Account: "other", Created: date(2020, time.March, 1), Expires: c.expires, GraceDays: 30, AuthHash: "code", Transfer: "b", Nameservers: []string{"a.example.com", "b.example.com"}}
		want := held
		want.Reference, want.Account, want.Moved, want.Expires, want.GraceDays = "b", "own", due, c.want, 45
		want.Locked, want.AuthHash, want.Transfer = true, "", ""
		got, entry := p.Execute(held)
		if diff := cmp.Diff(want, entry); diff != "" || got.State != registry.PlacementDone || !got.Expires.Equal(c.want) {
			t.Errorf("expires %s: got %s until %s: %s", c.expires, got.State, got.Expires, diff)
		}
	}
}

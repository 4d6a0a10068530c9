package epp

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// What is left to do for a renewal depends on the state of the name alone.
func TestPlanRenewal(t *testing.T) {
	from := time.Date(2028, 2, 29, 12, 0, 0, 0, time.UTC)
	year := func(n int) time.Time { return from.AddDate(n, 0, 0) }
	for title, c := range map[string]struct {
		expires   time.Time
		statuses  []string
		years     int
		restore   bool
		autoRenew bool
		want      plan
		code      deed.Code
	}{
		"not renewed yet":                     {expires: from, years: 2, want: plan{years: 2}},
		"renewed":                             {expires: year(2), years: 2, want: plan{done: true}},
		"renewed to the 28th of February":     {expires: year(1).AddDate(0, 0, -1), years: 1, want: plan{done: true}},
		"by another number of years":          {expires: year(1), years: 2, code: deed.CodeValidation},
		"by too many years":                   {expires: year(3), years: 2, code: deed.CodeValidation},
		"from an earlier date":                {expires: from.Add(-time.Second), years: 1, code: deed.CodeValidation},
		"by the registry":                     {expires: year(1), statuses: []string{"autoRenewPeriod"}, years: 1, autoRenew: true, want: plan{done: true}},
		"by the registry, and two more":       {expires: year(1), years: 3, autoRenew: true, want: plan{years: 2}},
		"by the registry, twice":              {expires: year(2), years: 1, autoRenew: true, want: plan{done: true}},
		"before the registry does":            {expires: from, years: 2, autoRenew: true, want: plan{years: 2}},
		"a day off, by the registry":          {expires: from.AddDate(0, 0, -1), years: 1, autoRenew: true, want: plan{years: 1}},
		"in redemption":                       {expires: from, statuses: []string{"pendingDelete", "redemptionPeriod"}, years: 1, code: deed.CodeRegistrationFailed},
		"in redemption, restored":             {expires: from, statuses: []string{"pendingDelete", "redemptionPeriod"}, years: 1, restore: true, want: plan{restore: true}},
		"the report is missing":               {expires: from, statuses: []string{"pendingDelete", "pendingRestore"}, years: 1, restore: true, want: plan{restore: true}},
		"restored, not renewed":               {expires: from, statuses: []string{"ok"}, years: 1, restore: true, want: plan{years: 1}},
		"restored with a year":                {expires: year(1), statuses: []string{"ok"}, years: 2, restore: true, want: plan{years: 1}},
		"deleted after it was renewed":        {expires: year(1), statuses: []string{"pendingDelete", "redemptionPeriod"}, years: 1, code: deed.CodeRegistrationFailed},
		"about to be deleted":                 {expires: from, statuses: []string{"pendingDelete"}, years: 1, restore: true, code: deed.CodeRegistrationFailed},
		"restored, in grace again":            {expires: from, statuses: []string{"autoRenewPeriod"}, years: 1, restore: true, want: plan{years: 1}},
		"restored, in grace of the registry":  {expires: year(1), statuses: []string{"autoRenewPeriod"}, years: 3, restore: true, autoRenew: true, want: plan{years: 2}},
		"while another registrar asks for it": {expires: from, statuses: []string{"pendingTransfer"}, years: 1, code: deed.CodeRegistrationFailed},
	} {
		d := domain{name: "plan.com", expires: c.expires, statuses: c.statuses}
		got, err := planRenewal(d, registrar.Order{Kind: registrar.OrderRenew, Years: c.years, From: from, Restore: c.restore}, c.autoRenew)
		if got != c.want || deed.CodeOf(err) != c.code {
			t.Errorf("%s: got %+v, %v, want %+v, %q", title, got, err, c.want, c.code)
		}
	}
}

// A restore report never has a deletion in the future.
func TestDeletedAt(t *testing.T) {
	now := time.Date(2028, 3, 1, 12, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return now.AddDate(0, 0, n) }
	for title, c := range map[string]struct{ updated, expires, want time.Time }{
		"after its expiry":                    {updated: day(-5), expires: day(-35), want: day(-5)},
		"after the registry renewed it":       {updated: day(-5), expires: day(330), want: day(-5)},
		"with its expiry, which is no change": {updated: day(-300), expires: day(-35), want: day(-35)},
		"the registry tells no change":        {expires: day(-35), want: day(-35)},
		"nor when, and has renewed it":        {expires: day(330), want: now},
		"by a clock that is ahead of ours":    {updated: now.Add(time.Minute), expires: day(330), want: now},
		"nothing is told":                     {want: now},
	} {
		if got := (domain{updated: c.updated, expires: c.expires}).deletedAt(now); !got.Equal(c.want) {
			t.Errorf("%s: got %s, want %s", title, got, c.want)
		}
	}
}

// A transfer is known by its date, and where that is missing by what else is there.
func TestCameWith(t *testing.T) {
	b := &Backend{cfg: Config{ClientID: "us"}}
	submitted := time.Date(2028, 3, 1, 12, 0, 0, 0, time.UTC)
	o := registrar.Order{Kind: registrar.OrderTransfer, Submitted: submitted}
	for title, c := range map[string]struct {
		d    domain
		t    transferState
		want bool
	}{
		"transferred since":                   {d: domain{transferred: submitted.Add(time.Hour), creator: "them"}, want: true},
		"transferred before":                  {d: domain{transferred: submitted.Add(-time.Hour), creator: "them"}},
		"no date, approved":                   {d: domain{}, t: transferState{status: "serverApproved", ours: true, requested: submitted}, want: true},
		"no date, approved before":            {d: domain{}, t: transferState{status: "serverApproved", ours: true, requested: submitted.AddDate(-1, 0, 0)}},
		"no date, approved for another":       {d: domain{}, t: transferState{status: "serverApproved", requested: submitted}},
		"no date, created by another":         {d: domain{creator: "them"}, want: true},
		"no date, created by us":              {d: domain{creator: "us"}},
		"no date, and the creator is unknown": {d: domain{}},
	} {
		if got := b.cameWith(c.d, c.t, o); got != c.want {
			t.Errorf("%s: got %t, want %t", title, got, c.want)
		}
	}
}

// No identifier is ever used twice, and each is valid, whatever the reference.
func TestTRID(t *testing.T) {
	seen := map[string]bool{}
	for _, reference := range []string{"", "job_1-1", "ä\n<>", string(make([]byte, 300))} {
		for range 100 {
			id := trid(reference)
			if seen[id] || len(id) < 3 || len(id) > maxTRID {
				t.Errorf("%q: got %q", reference, id)
			}
			seen[id] = true
		}
	}
}

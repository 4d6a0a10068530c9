package order_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A cap is from today's price to ten times that, and no more than any order may cost.
func TestCheckCap(t *testing.T) {
	const price, ceiling = 1300 * deed.Cent, 50_000 * deed.Cent
	for _, c := range []struct {
		limit, ceiling deed.USDC
		ok             bool
	}{
		{price, ceiling, true}, {price - 1, ceiling, false},
		{10 * price, ceiling, true}, {10*price + 1, ceiling, false},
		{2 * price, 2 * price, true}, {2*price + 1, 2 * price, false},
	} {
		if err := order.CheckCap(c.limit, price, c.ceiling); (err == nil) != c.ok {
			t.Errorf("a cap of %s with a ceiling of %s: got %v", c.limit, c.ceiling, err)
		}
	}
	for price, want := range map[deed.USDC]deed.USDC{1000 * deed.Cent: 1200 * deed.Cent, 1306 * deed.Cent: 1568 * deed.Cent, 1: deed.Cent} {
		if got := order.DefaultCap(price); got != want {
			t.Errorf("the default cap of %s: got %s, want %s", price, got, want)
		}
	}
}

// An authorization is valid after its time, not at it (EIP-3009), and before its end.
func TestMandateIsUsedInItsTime(t *testing.T) {
	expires := time.Date(2027, time.March, 1, 12, 0, 0, 0, time.UTC)
	r := lifecycle.Registration{Name: "a.com", Owner: "0x1", Reference: "r1", Expires: expires}
	from, until := expires.AddDate(0, 0, -order.MandateOpenDays), expires.AddDate(0, 0, 45)
	m := order.Mandate{Name: r.Name, Owner: r.Owner, Reference: r.Reference, Expires: expires, Auth: settle.Authorization{ValidAfter: from.Unix(), ValidBefore: until.Unix()}}
	for at, want := range map[time.Time]order.MandateStep{
		from:                       {Warn: true, Next: from.Add(time.Second)},
		from.Add(time.Second):      {Use: true, Next: from.Add(time.Second + 24*time.Hour)},
		until.Add(-time.Second):    {Use: true, Next: until.Add(24*time.Hour - time.Second)},
		until:                      {End: order.MandateFailed, Reason: "its time ended before it could be used"},
		from.AddDate(0, 0, -31):    {Next: from.AddDate(0, 0, -30)},
		expires.AddDate(0, 0, -60): {Warn: true, Next: from}, // it is looked at every 30 days
	} {
		got := m.Step(r, at)
		if !got.Next.Equal(want.Next) || got.Use != want.Use || got.Warn != want.Warn || got.End != want.End || got.Reason != want.Reason {
			t.Errorf("at %s: got %+v, want %+v", at, got, want)
		}
	}
	r.Expires = expires.AddDate(-1, 0, 0) // the renewal before is not recorded yet
	if got := m.Step(r, until.Add(-time.Second)); got.Use || !got.Next.Equal(until.Add(24*time.Hour-time.Second)) {
		t.Errorf("behind another renewal: got %+v", got)
	}
}

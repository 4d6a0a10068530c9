package opusdns_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

// isUnknown reports whether the error leaves the outcome open.
func isUnknown(err error) bool {
	_, coded := errors.AsType[*deed.Error](err)
	return err != nil && !coded
}

// After each fault the outcome is unknown, and the lookup tells it.
func TestUnknownOutcome(t *testing.T) {
	for fault, want := range map[opusdnstest.Fault]registrar.OrderState{
		opusdnstest.Down:        registrar.OrderAbsent,
		opusdnstest.Unavailable: registrar.OrderAbsent,
		opusdnstest.Gateway:     registrar.OrderAbsent,
		opusdnstest.Redirected:  registrar.OrderAbsent,
		opusdnstest.Huge:        registrar.OrderAbsent,
		opusdnstest.Denied:      registrar.OrderAbsent,
		opusdnstest.NoFunds:     registrar.OrderAbsent,
		opusdnstest.LostReply:   registrar.OrderDone,
		opusdnstest.Broken:      registrar.OrderDone,
	} {
		t.Run(string(fault), func(t *testing.T) {
			e := open(t)
			e.vendor.Break(fault, 1)
			o := e.order("faulty.com")
			if err := e.Place(t.Context(), o); !isUnknown(err) {
				t.Errorf("got %v, want an error without a code", err)
			}
			e.vendor.Break(opusdnstest.NoFault, 0)
			got, err := e.Order(t.Context(), o)
			if err != nil || got.State != want {
				t.Errorf("got %+v, %v, want %s", got, err, want)
			}
		})
	}
}

// Every call fails without a code while the vendor does not respond as documented.
// Nothing that it says is believed.
func TestEveryCallDuringFaults(t *testing.T) {
	for _, fault := range []opusdnstest.Fault{
		opusdnstest.Unavailable, opusdnstest.Gateway, opusdnstest.Redirected, opusdnstest.Huge, opusdnstest.Denied, opusdnstest.Broken, opusdnstest.Down,
	} {
		t.Run(string(fault), func(t *testing.T) {
			e := open(t)
			e.register(t, "held.com")
			h, err := e.Holding(t.Context(), "held.com")
			if err != nil {
				t.Fatal(err)
			}
			e.vendor.Break(fault, 1000)
			renewal := registrar.Order{Kind: registrar.OrderRenew, Name: "held.com", Years: 1, From: h.Expires, Submitted: e.Now()}
			for title, call := range map[string]func(context.Context) error{
				"available": func(ctx context.Context) error { _, err := e.Available(ctx, "new.com"); return err },
				"all":       func(ctx context.Context) error { _, err := e.AvailableAll(ctx, []deed.Name{"new.com"}); return err },
				"order":     func(ctx context.Context) error { _, err := e.Order(ctx, e.order("held.com")); return err },
				"cancel":    func(ctx context.Context) error { return e.Cancel(ctx, e.order("held.com")) },
				"renew":     func(ctx context.Context) error { return e.Place(ctx, renewal) },
				"transfer":  func(ctx context.Context) error { return e.Transferable(ctx, "new.com", "a good code") },
				"holding":   func(ctx context.Context) error { _, err := e.Holding(ctx, "held.com"); return err },
				"price":     func(ctx context.Context) error { _, err := e.Price(ctx, e.order("new.com")); return err },
				"list":      func(ctx context.Context) error { _, err := e.TLDs(ctx); return err },
			} {
				if err := call(t.Context()); !isUnknown(err) {
					t.Errorf("%s: got %v, want an error without a code", title, err)
				} else if strings.Contains(err.Error(), opusdnstest.Key) || strings.Contains(err.Error(), "127.0.0.1") && fault != opusdnstest.Down {
					t.Errorf("%s: the error tells too much: %v", title, err)
				}
			}
			e.vendor.Break(opusdnstest.NoFault, 0)
			if after, err := e.Holding(t.Context(), "held.com"); err != nil || !after.Expires.Equal(h.Expires) {
				t.Errorf("got %+v, %v, want no change", after, err)
			}
		})
	}
}

// A request that is put off was not executed: it is sent again.
func TestTooManyRequests(t *testing.T) {
	e := open(t)
	e.vendor.Break(opusdnstest.Busy, 2)
	before := e.vendor.Requests()
	if _, err := e.Available(t.Context(), "busy.com"); err != nil {
		t.Errorf("got %v", err)
	}
	if got := e.vendor.Requests() - before; got != 3 {
		t.Errorf("got %d requests, want 3", got)
	}
	e.vendor.Break(opusdnstest.Busy, 3)
	if _, err := e.Available(t.Context(), "busy.com"); !isUnknown(err) {
		t.Errorf("got %v, want an error without a code", err)
	}
	e.vendor.Break(opusdnstest.Busy, 1)
	e.register(t, "busy.com")
	e.conforms(t)
}

// Without money at the vendor an order is not refused: it can be executed when the
// operator has paid in, and the operator is told.
func TestNoFunds(t *testing.T) {
	e := open(t)
	e.vendor.Break(opusdnstest.NoFunds, 1)
	err := e.Place(t.Context(), e.order("costs-money.com"))
	if !errors.Is(err, registrar.ErrFunds) || !isUnknown(err) {
		t.Errorf("got %v, want no funds, without a code", err)
	}
	if got := e.Warnings(); len(got) != 1 || !strings.Contains(got[0], "money") {
		t.Errorf("got %v, want one warning about money", got)
	}
	e.register(t, "costs-money.com")
}

// A registration can be executed later: until then it is pending, and can neither be
// cancelled nor count as a name in the account.
func TestAsynchronousRegistration(t *testing.T) {
	for _, taken := range []bool{false, true} {
		e := open(t)
		e.vendor.Configure(func(a *opusdnstest.Account) { a.Async = true })
		o := e.order("later.com")
		if err := e.Place(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderPending {
			t.Errorf("got %+v, %v, want pending", got, err)
		}
		if err := e.Cancel(t.Context(), o); !isUnknown(err) {
			t.Errorf("cancel: got %v, want an error without a code", err)
		}
		if _, err := e.Holding(t.Context(), o.Name); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("got %v, want a name that is not in the account", err)
		}
		if list, err := e.Holdings(t.Context(), "", 10); err != nil || len(list) > 0 {
			t.Errorf("got %v, %v, want no name", list, err)
		}
		want := registrar.OrderStatus{State: registrar.OrderDone}
		if taken {
			if _, err := e.registry.Elsewhere(t.Context(), o.Name); err != nil {
				t.Fatal(err)
			}
			want = registrar.OrderStatus{State: registrar.OrderAbsent, Refusal: deed.CodeRegistrationFailed}
		}
		e.Advance(opusdnstest.LateBy)
		if got, err := e.Order(t.Context(), o); err != nil || got.State != want.State || got.Refusal != want.Refusal {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		if h, err := e.Holding(t.Context(), o.Name); !taken && (err != nil || !h.Locked) {
			t.Errorf("got %+v, %v, want a locked name", h, err)
		}
		e.conforms(t)
	}
}

// A registry's demand for verification is a state of the name, with its deadline.
func TestVerification(t *testing.T) {
	e := open(t)
	e.register(t, "verify.com")
	if v, err := e.Verification(t.Context(), "verify.com"); err != nil || v.Required {
		t.Errorf("got %+v, %v, want no demand", v, err)
	}
	deadline := e.Now().Add(14 * 24 * time.Hour).UTC().Truncate(time.Second)
	e.vendor.DemandVerification("verify.com", deadline)
	v, err := e.Verification(t.Context(), "verify.com")
	if err != nil || !v.Required || !v.Deadline().Equal(deadline) || !slices.Equal(v.Claims, []string{"email", "name"}) || !v.Deleted.After(deadline) {
		t.Errorf("got %+v, %v, want a demand until %s", v, err, deadline)
	}
	if _, err := e.Verification(t.Context(), "other.com"); deed.CodeOf(err) != deed.CodeNotFound {
		t.Errorf("got %v", err)
	}
	if got, err := e.Order(t.Context(), e.order("verify.com")); err != nil || got.State != registrar.OrderDone {
		t.Errorf("got %+v, %v: the name is registered all the same", got, err)
	}
	e.conforms(t)
}

// An attempt that restored the name and could not renew it is continued by the next.
func TestRenewalAfterRestore(t *testing.T) {
	e := open(t)
	e.register(t, "restored.com")
	h, err := e.Holding(t.Context(), "restored.com")
	if err != nil {
		t.Fatal(err)
	}
	e.Advance(h.Expires.AddDate(0, 0, 46).Sub(e.Now()))
	o := registrar.Order{Kind: registrar.OrderRenew, Reference: "first", Name: "restored.com", Years: 2, From: h.Expires, Restore: true, Submitted: e.Now()}
	e.vendor.Break(opusdnstest.LostReply, 1) // that of the restore
	if err := e.Place(t.Context(), o); !isUnknown(err) {
		t.Errorf("got %v, want an error without a code", err)
	}
	if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderAbsent {
		t.Errorf("got %+v, %v, want absent", got, err)
	}
	o.Reference, o.Submitted = "second", e.Now()
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderDone || !got.Expires.Equal(h.Expires.AddDate(2, 0, 0)) {
		t.Errorf("got %+v, %v, want done with two more years", got, err)
	}
	e.conforms(t)
}

// Where a restore renews the name, only the years that are missing are ordered.
func TestRestoreRenews(t *testing.T) {
	for _, years := range []int{1, 3} {
		e := open(t)
		e.vendor.Configure(func(a *opusdnstest.Account) { a.Renews = true })
		e.register(t, "restored.com")
		h, err := e.Holding(t.Context(), "restored.com")
		if err != nil {
			t.Fatal(err)
		}
		e.Advance(h.Expires.AddDate(0, 0, 46).Sub(e.Now()))
		o := registrar.Order{Kind: registrar.OrderRenew, Reference: "a", Name: "restored.com", Years: years, From: h.Expires, Restore: true, Submitted: e.Now()}
		for range 2 {
			if err := e.Place(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if got, err := e.Order(t.Context(), o); err != nil || got.State != registrar.OrderDone || !got.Expires.Equal(h.Expires.AddDate(years, 0, 0)) {
				t.Errorf("got %+v, %v, want %d more years than %s", got, err, years, h.Expires)
			}
		}
		e.conforms(t)
	}
}

// Without a code of ours the time of the domain object decides, within the tolerated
// difference of the clocks.
func TestCreatedAfterSubmission(t *testing.T) {
	e := open(t, func(c *opusdns.Config) { c.ClockSkew = time.Minute })
	e.register(t, "by-time.com")
	if _, err := e.AuthCode(t.Context(), "by-time.com"); err != nil { // the code of the order is gone
		t.Fatal(err)
	}
	for later, want := range map[time.Duration]registrar.OrderState{
		-time.Hour: registrar.OrderDone, 0: registrar.OrderDone, time.Minute: registrar.OrderDone, 2 * time.Minute: registrar.OrderAbsent,
	} {
		o := e.order("by-time.com")
		o.Submitted = o.Submitted.Add(later)
		if got, err := e.Order(t.Context(), o); err != nil || got.State != want {
			t.Errorf("submitted %s later: got %+v, %v, want %s", later, got, err, want)
		}
	}
	o := e.order("by-time.com")
	o.Submitted = time.Time{}
	if _, err := e.Order(t.Context(), o); !isUnknown(err) {
		t.Errorf("an order without a time: got %v, want an error without a code", err)
	}
	if err := e.Place(t.Context(), o); !isUnknown(err) {
		t.Errorf("an order without a time: got %v, want an error without a code", err)
	}
}

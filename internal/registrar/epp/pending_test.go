package epp_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// A renewal that the registry has not decided yet is pending: it is neither ordered again nor
// refused, and cancelling it does not delete the name.
func TestPendingRenewal(t *testing.T) {
	for _, approve := range []bool{true, false} {
		e := open(t)
		from := e.bought(t, name)
		e.server.HoldChanges(name)
		o := registrar.Order{Kind: registrar.OrderRenew, Reference: "r", Name: name, Years: 2, From: from, Submitted: e.Now()}
		if err := e.Place(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderPending {
			t.Errorf("got %+v, %v, want pending", st, err)
		}
		uncoded(t, e.Place(t.Context(), o))
		uncoded(t, e.Cancel(t.Context(), o))
		if h, err := e.Holding(t.Context(), name); err != nil || !h.Expires.Equal(from) {
			t.Errorf("got %+v, %v, want it to expire on %s", h, err, from)
		}
		if !e.server.DecideChange(name, approve) {
			t.Error("nothing was decided")
		}
		want := map[bool]registrar.OrderState{true: registrar.OrderDone, false: registrar.OrderAbsent}[approve]
		if st, err := e.Order(t.Context(), o); err != nil || st.State != want {
			t.Errorf("got %+v, %v, want %v", st, err, want)
		}
	}
}

// A change that the registry has not decided yet was not made: whoever makes it is told that
// the outcome is unknown, until it is.
func TestPendingUpdate(t *testing.T) {
	e := open(t)
	e.bought(t, name)
	hosts := []string{"ns3.example.net", "ns4.example.net"}
	key := []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("ab", 32)}}
	for what, change := range map[string]func() error{
		"name servers": func() error { return e.SetNameservers(t.Context(), name, hosts) },
		"DS":           func() error { return e.SetDS(t.Context(), name, key) },
		"lock":         func() error { return e.SetLock(t.Context(), name, false) },
		"code":         func() error { _, err := e.AuthCode(t.Context(), name); return err },
	} {
		for _, approve := range []bool{false, true} {
			e.server.HoldChanges(name)
			for range 2 {
				if err := change(); err == nil || deed.CodeOf(err) != deed.CodeUnavailable {
					t.Errorf("%s: got %v, want an unknown outcome", what, err)
				}
			}
			if !e.server.DecideChange(name, approve) {
				t.Errorf("%s: nothing was decided", what)
			}
		}
		if err := change(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if h, err := e.Holding(t.Context(), name); err != nil || !slices.Equal(h.Nameservers, hosts) || !dnssec.SameDS(h.DS, key) || h.Locked {
		t.Errorf("got %+v, %v", h, err)
	}
}

// A transfer whose state is not one of the RFC's is neither done nor refused.
func TestTransferInAnUnknownState(t *testing.T) {
	e := open(t)
	code, err := e.registry.Elsewhere(t.Context(), "other.com")
	if err != nil {
		t.Fatal(err)
	}
	o := registrar.Order{Kind: registrar.OrderTransfer, Reference: "in", Name: "other.com", Years: 1, AuthCode: code, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for status, want := range map[string]registrar.OrderStatus{
		"pending": {State: registrar.OrderPending}, "clientRejected": {State: registrar.OrderAbsent, Refusal: deed.CodeRegistrationFailed},
		"clientCancelled": {State: registrar.OrderAbsent, Refusal: deed.CodeRegistrationFailed}, "serverCancelled": {State: registrar.OrderAbsent, Refusal: deed.CodeRegistrationFailed},
	} {
		e.server.SayTransfer(status)
		if st, err := e.Order(t.Context(), o); err != nil || st.State != want.State || st.Refusal != want.Refusal {
			t.Errorf("%s: got %+v, %v, want %+v", status, st, err, want)
		}
	}
	for _, status := range []string{"PENDING", "pendingTransfer", "clientHold", "\ufffd"} {
		e.server.SayTransfer(status)
		if st, err := e.Order(t.Context(), o); err == nil {
			t.Errorf("%s: got %+v", status, st)
		} else {
			uncoded(t, err)
		}
	}
}

// What the last registrar has prohibited does not prohibit it to us.
func TestTransferWithStatuses(t *testing.T) {
	e := open(t)
	code, err := e.registry.Elsewhere(t.Context(), "other.com")
	if err != nil {
		t.Fatal(err)
	}
	e.server.SetStatuses("other.com", "clientHold", "clientRenewProhibited", "clientUpdateProhibited", "serverHold")
	o := registrar.Order{Kind: registrar.OrderTransfer, Reference: "in", Name: "other.com", Years: 1, AuthCode: code, Submitted: e.Now()}
	if err := e.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := e.registry.Decide(t.Context(), "other.com", true); err != nil {
		t.Fatal(err)
	}
	if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderDone {
		t.Fatalf("got %+v, %v", st, err)
	}
	hosts := []string{"ns1.example.net", "ns2.example.net"}
	if err := e.SetNameservers(t.Context(), "other.com", hosts); err != nil {
		t.Error(err)
	}
	h, err := e.Holding(t.Context(), "other.com")
	foreign := func(s string) bool { return strings.HasPrefix(s, "client") && s != "clientTransferProhibited" }
	if err != nil || slices.ContainsFunc(h.EPPStatus, foreign) || !slices.Contains(h.EPPStatus, "serverHold") {
		t.Errorf("got %v, %v", h.EPPStatus, err)
	}
}

// A name that is restored is renewed by all years of the order, whether or not the registry has
// added one itself, and shows the name in its auto-renew grace period again. The registry takes
// only reports of deletions that came before the restore.
func TestRestoreInAutoRenewGrace(t *testing.T) {
	for _, years := range []int{1, 3} {
		for _, auto := range []bool{false, true} {
			var paid time.Time
			e := open(t, reporting, func(s *epptest.Config, c *eppConfig) {
				s.AutoRenew, c.Profile.AutoRenew = auto, auto
				c.PaidUntil = func(context.Context, deed.Name) (time.Time, error) { return paid, nil }
			})
			paid = e.bought(t, name)
			e.Advance(paid.Sub(e.Now()) + 10*day)
			if _, err := e.Holding(t.Context(), name); err != nil { // the registry renews it
				t.Fatal(err)
			}
			if err := e.server.DeleteName(name); err != nil {
				t.Fatal(err)
			}
			e.Advance(5 * day)
			o := registrar.Order{Kind: registrar.OrderRenew, Reference: "restored", Name: name, Years: years, From: paid, Restore: true, Submitted: e.Now()}
			if err := e.Place(t.Context(), o); err != nil {
				t.Errorf("%d years, auto_renew %t: %v", years, auto, err)
			}
			if st, err := e.Order(t.Context(), o); err != nil || st.State != registrar.OrderDone || !e.server.Expires(name).Equal(paid.AddDate(years, 0, 0)) {
				t.Errorf("%d years, auto_renew %t: got %+v, %v, and %s at the registry", years, auto, st, err, e.server.Expires(name))
			}
		}
	}
}

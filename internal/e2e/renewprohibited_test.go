package e2e_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed"
)

// A registry may forbid renewals of a name for a while, as during a dispute. Nobody pays for one
// then, and a mandate is used when they are allowed again.
func TestRenewalsAreProhibited(t *testing.T) {
	e := openEPPEnv(t, nil)
	owner := e.bought(t, "first.com")
	e.mandate(t, owner, "first.com", 1)
	paid := e.domain(t, "first.com").ExpiresAt
	e.server.SetStatuses("first.com", "serverRenewProhibited")
	had := e.balance(t, e.payTo)
	got := e.renew(t, "first.com", 1, e.promise(e.buyer(t), comRenewal).header(t))
	if got.expect(t, 400, deed.CodeValidation); !strings.Contains(got.body, "serverRenewProhibited") {
		t.Errorf("got %s", got.body)
	}
	e.passAll(t, paid.AddDate(0, 0, -20).Sub(e.clock.Now()))
	if m := e.mandates(t, owner, "first.com")[0]; m.Status != "active" || !strings.Contains(m.Reason, "serverRenewProhibited") {
		t.Errorf("prohibited: got %+v", m)
	}
	if now := e.balance(t, e.payTo); now != had {
		t.Errorf("%s were paid", now-had)
	}
	e.server.SetStatuses("first.com")
	e.passAll(t, 25*time.Hour)
	if m := e.mandates(t, owner, "first.com")[0]; m.Status != "used" {
		t.Errorf("allowed again: got %+v", m)
	}
	if got := e.domain(t, "first.com").ExpiresAt; !got.Equal(paid.AddDate(1, 0, 0)) {
		t.Errorf("got %s, was %s", got, paid)
	}
	e.audit(t)
}

package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/registry"
	"deed.example/deed/internal/sqldb"
)

// A leaver has the code of a name, and a registrar that moves names at once, at a
// registry that makes nobody wait after a registration.
type leaver struct {
	s    *env
	name deed.Name
	hash string // of the code
}

// leaver asks for the code of a name, which unlocks it.
func (s *env) leaver(t *testing.T, domain, token string) leaver {
	t.Helper()
	s.do(t, "POST", "/domains/"+domain+"/authcode", "", "Authorization", token).expect(t, 200, "")
	e, err := s.registry.Store.Entry(t.Context(), deed.Name(domain), s.registry.Now())
	if err != nil || e.AuthHash == "" || e.Locked {
		t.Fatalf("got %+v, %v", e, err)
	}
	return leaver{s, deed.Name(domain), e.AuthHash}
}

// leave moves the name, if it is unlocked and has the code still.
func (l leaver) leave(t *testing.T) {
	t.Helper()
	now := l.s.registry.Now()
	err := l.s.registry.Store.Change(t.Context(), l.name, now, func(e registry.Entry) (registry.Entry, error) {
		if !e.HeldAt(now) || e.Locked || e.AuthHash != l.hash {
			return e, nil
		}
		e.Account, e.Moved, e.AuthHash = "another registrar", now, ""
		return e, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// left reports whether another registrar has the name.
func (l leaver) left(t *testing.T) bool {
	t.Helper()
	now := l.s.registry.Now()
	e, err := l.s.registry.Store.Entry(t.Context(), l.name, now)
	if err != nil {
		t.Fatal(err)
	}
	return e.HeldBy("another registrar", now)
}

// oneOutcome fails the test unless exactly one is true: the name has left, it was deleted
// and refunded, or it is still held here.
func (l leaver) oneOutcome(t *testing.T, owner *account, owners ...deed.Wallet) {
	t.Helper()
	l.s.runWorker(t)
	l.s.runLifecycle(t)
	r, err := sqldb.Registrations{DB: l.s.db}.Registration(t.Context(), l.name)
	_, heldErr := l.s.registry.Holding(t.Context(), l.name)
	left, held := l.left(t), heldErr == nil
	back := l.s.balance(t, common.HexToAddress(string(owner.wallet))) == 1_000_000_000-cancelFee
	ours := err == nil && !r.Cancelling && held && r.Status == lifecycle.StatusActive && strings.Contains(fmt.Sprint(owners), string(r.Owner))
	count := 0
	for _, is := range []bool{left, back, ours} {
		if is {
			count++
		}
	}
	if count != 1 || back && (held || err == nil) {
		t.Errorf("%s: left %t, refunded %t, ours %t: %+v, %v", l.name, left, back, ours, r, err)
	}
	l.s.audit(t)
}

// A name that leaves while it is being cancelled is not refunded, whenever it leaves and
// whatever happens to the answer of the deletion; once it is about to be deleted it
// cannot leave. It cannot be handed over meanwhile.
func TestCancelWhileLeaving(t *testing.T) {
	for _, fault := range []local.Fault{local.FaultNone, local.FaultLostReply, local.FaultLate} {
		for _, step := range []string{"job: cancellation stored", "job: about to delete", "job: deleted"} {
			t.Run(string(fault)+" "+step, func(t *testing.T) {
				eachEnv(t, func(t *testing.T, s *env) {
					owner, heir := s.bought(t, "first.com"), newAccount(t)
					token := s.bearer(t, owner)
					l := s.leaver(t, "first.com", token)
					met := false
					s.api.Registrations.Step = func(name string) {
						if name != step || met {
							return
						}
						met = true
						l.leave(t)
						s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet), "Authorization", token).expect(t, 400, deed.CodeValidation)
					}
					s.faults.Set(fault, 1)
					got := s.cancel(t, "first.com", token, `{}`)
					s.faults.Set(local.FaultNone, 0)
					if !met {
						t.Fatal("the step was never reached")
					}
					if early := step != "job: deleted"; l.left(t) != early || early && (got.status != 400 || !strings.Contains(got.body, "left our account")) {
						t.Errorf("left %t: got %d %s", l.left(t), got.status, got.body)
					}
					l.oneOutcome(t, owner, owner.wallet)
				})
			})
		}
	}
}

// Of cancellations, a transfer to another registrar and a hand-over at once, exactly one
// has an effect.
func TestCancelRacesLeaving(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		for round := range 8 {
			domain := fmt.Sprintf("race%d.com", round)
			owner, heir := s.bought(t, domain), newAccount(t)
			token := s.bearer(t, owner)
			l := s.leaver(t, domain, token)
			calls := []func(){
				func() { s.cancel(t, domain, token, `{}`) },
				func() { l.leave(t) },
				func() { s.cancel(t, domain, token, `{}`) },
				func() {
					s.do(t, "PUT", "/domains/"+domain+"/owner", fmt.Sprintf(`{"walletAddress":%q}`, heir.wallet), "Authorization", token)
				},
			}
			var wg sync.WaitGroup
			for i := range calls[:3+round%2] {
				wg.Go(calls[(i+round)%(3+round%2)])
			}
			wg.Wait()
			l.oneOutcome(t, owner, owner.wallet, heir.wallet)
		}
	})
}

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
)

// handOver transfers first.com to another wallet.
func (s *env) handOver(t *testing.T, token string, to *account) answer {
	t.Helper()
	return s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, to.wallet), "Authorization", token)
}

// An auth code of the former owner is invalid after the hand-over; the new owner
// finds the name locked and can get a valid code.
func TestHandOverInvalidatesAuthCode(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token, heir := s.bearer(t, s.bought(t, "first.com")), newAccount(t)
		s.pass(t, 61*day) // by now a transfer is allowed
		code := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", token))
		s.do(t, "PUT", "/domains/first.com/owner", fmt.Sprintf(`{"walletAddress":%q}`, deed.ZeroWallet), "Authorization", token).expect(t, 400, deed.CodeValidation)
		if d := read[api.Domain](t, s.handOver(t, token, heir)); !d.Locked || d.WalletAddress != string(heir.wallet) {
			t.Errorf("got %+v", d)
		}
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err == nil {
			t.Error("the name was locked, and left")
		}
		mine := s.bearer(t, heir)
		if d := read[api.Domain](t, s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", mine)); d.Locked {
			t.Errorf("got %+v", d)
		}
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(code.AuthCode)); err == nil {
			t.Error("the name left with the code of its old owner")
		}
		good := read[api.AuthCode](t, s.do(t, "POST", "/domains/first.com/authcode", "", "Authorization", mine))
		if err := s.registry.Leave(t.Context(), "first.com", deed.Secret(good.AuthCode)); err != nil {
			t.Errorf("the owner's own code: %v", err)
		}
		s.runLifecycle(t)
		s.handOver(t, mine, newAccount(t)).expect(t, 400, deed.CodeValidation) // a transfer is pending
		s.audit(t)
	})
}

// A hand-over fails if the registry cannot replace the auth code.
func TestHandOverWhileTheRegistryIsDown(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		token := s.bearer(t, owner)
		s.faults.Set(local.FaultDown, 0)
		s.handOver(t, token, newAccount(t)).expect(t, 503, deed.CodeUnavailable)
		s.faults.Set(local.FaultNone, 0)
		if d := s.domain(t, "first.com"); d.WalletAddress != string(owner.wallet) {
			t.Errorf("got %+v", d)
		}
	})
}

// A codelessManager is a registry that does not answer when an auth code is wanted.
type codelessManager struct{ registrar.Manager }

func (codelessManager) AuthCode(context.Context, deed.Name) (deed.Secret, error) {
	return "", errors.New("no answer")
}

// A hand-over that fails when the registry has locked the name already does not leave it
// locked there in secret.
func TestHandOverThatFailsHalfway(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		token := s.bearer(t, s.bought(t, "first.com"))
		s.do(t, "PUT", "/domains/first.com/lock", `{"locked":false}`, "Authorization", token).expect(t, 200, "")
		s.pass(t, 2*time.Minute) // it is compared with the registry
		s.api.Registrations.Manager = codelessManager{s.registry}
		s.handOver(t, token, newAccount(t)).expect(t, 503, deed.CodeUnavailable)
		s.runLifecycle(t)
		if d := s.domain(t, "first.com"); !d.Locked {
			t.Error("the registry has locked the name, and its owner is told that it is not")
		}
		s.audit(t)
	})
}

// A busyManager is a registry that runs a function once, after an auth code is
// created or before name servers are set.
type busyManager struct {
	registrar.Manager
	meanwhile func(ctx context.Context)
}

func (k *busyManager) then(ctx context.Context) {
	if f := k.meanwhile; f != nil {
		k.meanwhile = nil
		f(ctx)
	}
}

func (k *busyManager) AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	code, err := k.Manager.AuthCode(ctx, name)
	k.then(ctx)
	return code, err
}

func (k *busyManager) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	k.then(ctx)
	return k.Manager.SetNameservers(ctx, name, hosts)
}

// An auth code that is created during a hand-over is invalid, and late changes of
// the former owner are undone.
func TestOwnerActionsDuringHandOver(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, heir := s.bought(t, "first.com"), newAccount(t)
		s.pass(t, 61*day)
		busy := &busyManager{Manager: s.registry}
		s.api.Registrations.Manager = busy
		var code deed.Secret
		busy.meanwhile = func(ctx context.Context) { // after the hand-over has set the lock and the new code
			var err error
			if code, err = s.api.Registrations.AuthCode(ctx, owner.wallet, "first.com"); err != nil {
				t.Error(err)
			}
		}
		if err := s.api.Registrations.HandOver(t.Context(), owner.wallet, "first.com", heir.wallet); err != nil {
			t.Fatal(err)
		}
		unlocked(t, s.registry)
		if err := s.registry.Leave(t.Context(), "first.com", code); err == nil {
			t.Error("the name left with a code that its old owner made meanwhile")
		}
		next := newAccount(t)
		busy.meanwhile = func(ctx context.Context) {
			if err := s.api.Registrations.HandOver(ctx, heir.wallet, "first.com", next.wallet); err != nil {
				t.Error(err)
			}
		}
		err := s.api.Registrations.Delegate(t.Context(), heir.wallet, "first.com", registration.Delegation{Hosts: []string{"ns1.evil.example", "ns2.evil.example"}})
		if deed.CodeOf(err) != deed.CodeOwnershipDenied {
			t.Errorf("got %v", err)
		}
		h, err := s.registry.Holding(t.Context(), "first.com")
		if err != nil || !h.Locked || !slices.Equal(h.Nameservers, s.api.Registrations.Nameservers) {
			t.Errorf("got %+v, %v", h, err)
		}
		s.audit(t)
	})
}

// unlocked unlocks first.com at the registry directly.
func unlocked(t *testing.T, r *local.Registry) {
	t.Helper()
	if err := r.SetLock(t.Context(), "first.com", false); err != nil {
		t.Fatal(err)
	}
}

// Whoever gets a name is told, also if it is handed on in the same second.
func TestHandOverTwiceInASecond(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, agent, heir := s.bought(t, "first.com"), newAccount(t), newAccount(t)
		s.handOver(t, s.bearer(t, owner), agent).expect(t, 200, "")
		s.handOver(t, s.bearer(t, agent), heir).expect(t, 200, "")
		for who, want := range map[*account]int{owner: 1, agent: 2, heir: 1} {
			told := 0
			for _, e := range s.events(t, who, "").Events {
				if e.Type == string(event.DomainHandedOver) {
					told++
				}
			}
			if told != want {
				t.Errorf("%s was told %d times, want %d", who.wallet, told, want)
			}
		}
		times := 0
		for _, e := range s.domain(t, "first.com").Events {
			if e.Type == "handed_over" {
				times++
			}
		}
		if times != 2 {
			t.Errorf("the name has %d events, want 2", times)
		}
		s.audit(t)
	})
}

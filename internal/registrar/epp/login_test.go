package epp_test

import (
	"testing"

	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// A registry that forgets all logins and keeps the connections refuses every command of them
// (2002), and still answers a hello. No call fails for that.
func TestForgottenLogins(t *testing.T) {
	e := open(t)
	if failed := e.checks(t, 40); failed > 0 {
		t.Fatalf("%d calls failed", failed)
	}
	for i, call := range []func() error{
		func() error { return e.SetLock(t.Context(), name, false) },
		func() error { _, err := e.Available(t.Context(), "free.com"); return err },
		func() error {
			return e.Place(t.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: "forgotten", Name: "free.com", Years: 1, Submitted: e.Now()})
		},
	} {
		if i == 0 {
			e.bought(t, name)
		}
		e.server.LogOut()
		if err := call(); err != nil {
			t.Errorf("call %d: %v", i, err)
		}
		if failed := e.checks(t, 40); failed > 0 {
			t.Errorf("%d calls failed", failed)
		}
	}
}

// A registry that knows certificates by their fingerprint, or by an intermediate CA that is not
// in the file, asks for those of other CAs. It gets ours all the same.
func TestCertificateOfACAThatIsNotAskedFor(t *testing.T) {
	e := open(t, func(s *epptest.Config, _ *eppConfig) { s.OtherCA = true })
	if err := e.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

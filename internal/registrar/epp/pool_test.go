package epp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/epp/epptest"
)

// eventually waits until f holds, for as long as a test may take.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// check makes concurrent calls and returns how many failed.
func (e env) checks(t *testing.T, callers int) (failed int) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range callers {
		wg.Go(func() {
			_, err := e.Available(t.Context(), deed.Name(fmt.Sprintf("free-%d.com", i)))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Log(err)
				failed++
			}
		})
	}
	wg.Wait()
	return failed
}

// The pool never has more sessions than it may have, and they are used again.
func TestSessionsAreBounded(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) { c.Sessions = 3 })
	for range 3 {
		if failed := e.checks(t, 40); failed > 0 {
			t.Errorf("%d calls failed", failed)
		}
	}
	kinds, repeated := e.server.Commands()
	logins := 0
	for _, k := range kinds {
		if k == "login" {
			logins++
		}
	}
	if logins > 3 || e.server.Sessions() > 3 || repeated > 0 {
		t.Errorf("got %d logins, %d sessions, %d repeated identifiers, want 3, 3 and none", logins, e.server.Sessions(), repeated)
	}
}

// A registry that allows fewer sessions than configured (2502), or closes further connections,
// slows calls down, and fails none.
func TestSessionLimitOfTheRegistry(t *testing.T) {
	for title, limit := range map[string]func(*epptest.Config){"2502": func(s *epptest.Config) { s.MaxSessions = 2 }, "closed": func(s *epptest.Config) { s.MaxConns = 2 }} {
		t.Run(title, func(t *testing.T) {
			e := open(t, func(s *epptest.Config, c *eppConfig) { limit(s); c.Sessions = 8 })
			if _, err := e.Available(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if failed := e.checks(t, 40); failed > 0 {
				t.Errorf("%d calls failed", failed)
			}
			// All sessions are another node's: this one fails, and recovers when they end.
			other := e.node(t)
			if err := other.Ping(t.Context()); err == nil && e.server.Sessions() > 2 {
				t.Error("the registry has more sessions than it allows")
			}
			_ = e.Close() // it cannot fail
			eventually(t, "another node gets a session", func() bool { return other.Ping(t.Context()) == nil })
		})
	}
}

// After a cut of all connections, and after maintenance, the next call connects
// again. Meanwhile calls fail fast, without a code, and do not hammer the registry.
func TestReconnect(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) {
		c.MinBackoff, c.MaxBackoff = time.Millisecond, 10*time.Millisecond
	})
	if failed := e.checks(t, 4); failed > 0 {
		t.Fatalf("%d calls failed", failed)
	}
	e.server.CutAll()
	eventually(t, "the sessions end", func() bool { return e.server.Sessions() == 0 })
	eventually(t, "a call succeeds after a cut", func() bool { return e.Ping(t.Context()) == nil })
	e.server.Maintain(true)
	for range 10 {
		_, err := e.Available(t.Context(), name)
		if err == nil {
			t.Error("a registry in maintenance answered")
		}
		uncoded(t, err)
	}
	e.server.Maintain(false)
	eventually(t, "a call succeeds after maintenance", func() bool { return e.Ping(t.Context()) == nil })
}

// Idle sessions are kept alive with a hello, and closed when nobody needs them.
func TestIdleSessions(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) { c.KeepAlive, c.IdleTime = 5*time.Millisecond, time.Hour })
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "hellos on an idle session", func() bool { return e.server.Hellos() > 3 })
	if e.server.Sessions() != 1 {
		t.Errorf("got %d sessions, want 1", e.server.Sessions())
	}
	config := e.config
	config.IdleTime = time.Millisecond
	short, err := epp.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close() // it cannot fail
	if err := short.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an idle session is closed", func() bool { return e.server.Sessions() == 1 })
}

// A caller that leaves does not take the session along for the next one: the late
// reply must not be mistaken for another.
func TestCallerLeaves(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) { c.Sessions = 1 })
	e.server.Break(epptest.Fault{Kind: epptest.Slow, Times: 1})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := e.Available(ctx, name)
		result <- err
	}()
	<-e.server.Received
	waiting := make(chan error, 1)
	go func() {
		_, err := e.Available(t.Context(), "another.com")
		waiting <- err
	}()
	cancel()
	if err := <-result; err == nil {
		t.Error("a caller that left got an answer")
	}
	if err := <-waiting; err != nil {
		t.Errorf("the next caller: %v", err)
	}
}

// A registry that does not answer in time leaves the outcome unknown, and so does one
// without names.
func TestTimeout(t *testing.T) {
	e := open(t)
	hurried := e
	hurried.config.Timeout = 100 * time.Millisecond
	e.server.Break(epptest.Fault{Kind: epptest.Slow, Times: 1000})
	_, err := hurried.node(t).Available(t.Context(), name)
	if err == nil {
		t.Error("got an answer of a registry that gives none")
	}
	uncoded(t, err)
	other := open(t, func(s *epptest.Config, _ *eppConfig) { s.Without = []string{"urn:ietf:params:xml:ns:domain-1.0"} })
	_, err = other.Available(t.Context(), name)
	if err == nil {
		t.Error("got an answer of a registry without names")
	}
	uncoded(t, err)
}

// Nobody is let in with another password or without a certificate of the registry's
// authority, and the registry must be who it says.
func TestCredentials(t *testing.T) {
	e := open(t)
	for title, change := range map[string]func(*epp.Config){
		"another password":  func(c *epp.Config) { c.Password = "wrong" },
		"another client":    func(c *epp.Config) { c.ClientID = "stranger" },
		"another authority": func(c *epp.Config) { c.CAFile = "" },
		"another host":      func(c *epp.Config) { c.ServerName = "registry.example" },
		"nobody listens":    func(c *epp.Config) { c.Address = "127.0.0.1:1" },
	} {
		c := e.config
		change(&c)
		b, err := epp.Open(c)
		if err != nil {
			t.Fatalf("%s: %v", title, err)
		}
		_, err = b.Available(t.Context(), name)
		if err == nil {
			t.Errorf("%s: got an answer", title)
		}
		uncoded(t, err)
		if strings.Contains(fmt.Sprint(err), epptest.Password) {
			t.Errorf("%s: the error has the password", title)
		}
		_ = b.Close() // it cannot fail
	}
}

// Settings that cannot work are refused before anything is sold.
func TestOpenRefuses(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) { c.Registrant = contact })
	for title, change := range map[string]func(*epp.Config){
		"address":     func(c *epp.Config) { c.Address = "epp.example" },
		"client":      func(c *epp.Config) { c.ClientID = "" },
		"password":    func(c *epp.Config) { c.Password = "" },
		"certificate": func(c *epp.Config) { c.CertFile = "" },
		"no file":     func(c *epp.Config) { c.CertFile = c.CertFile + ".missing" },
		"no PEM":      func(c *epp.Config) { c.CAFile = c.KeyFile },
		"secret":      func(c *epp.Config) { c.Secret = "short" },
		"contact":     func(c *epp.Config) { c.Profile.Contacts, c.Registrant.Name = epp.ContactsAll, "" },
		"phone":       func(c *epp.Config) { c.Profile.Contacts, c.Registrant.Phone = epp.ContactsAll, "030 1234567" },
		"years":       func(c *epp.Config) { c.Profile.MinYears, c.Profile.MaxYears = 3, 2 },
		"auto-renew":  func(c *epp.Config) { c.Profile.AutoRenew = true },
		"currency":    func(c *epp.Config) { c.Profile.Currency = "EUR" },
	} {
		c := e.config
		change(&c)
		if b, err := epp.Open(c); err == nil {
			t.Errorf("%s: no error", title)
			_ = b.Close() // it cannot fail
		}
	}
}

// The operator is warned thirty days before the client's certificate expires, and a
// new one is used without a restart.
func TestCertificateExpires(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) {
		f := epptest.ClientFiles(t, 29*24*time.Hour)
		c.CertFile, c.KeyFile = f.Cert, f.Key
	})
	if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0], "expires on "+e.CertificateExpires().UTC().Format(time.DateOnly)) {
		t.Errorf("got %q, want a warning", w)
	}
	replace(t, epptest.ClientFiles(t, 31*24*time.Hour), e.config)
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := e.Warnings(); len(w) > 0 {
		t.Errorf("got %q with a new certificate", w)
	}
}

// However many lookups wait for a registry that does not answer them, one session is left
// for orders and what belongs to them.
func TestLookupsLeaveASession(t *testing.T) {
	e := open(t, func(_ *epptest.Config, c *eppConfig) {
		c.Sessions, c.Timeout = 3, time.Hour
		c.Profile.Without = []string{"urn:ietf:params:xml:ns:epp:fee-1.0"} // an order asks for the price with a check
	})
	order := registrar.Order{Kind: registrar.OrderRegister, Reference: "order-1", Name: name, Years: 1, Nameservers: []string{"ns1.deed.example", "ns2.deed.example"}}
	e.server.Break(epptest.Fault{Kind: epptest.Slow, Times: 1000, Only: []string{"check"}})
	lookups, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() { _, _ = e.Available(lookups, deed.Name(fmt.Sprintf("free-%d.com", i))) }) // it is held until it leaves
	}
	eventually(t, "lookups are held", func() bool {
		kinds, _ := e.server.Commands()
		held := 0
		for _, kind := range kinds {
			if kind == "check" {
				held++
			}
		}
		return held >= 2
	})
	ctx, giveUp := context.WithTimeout(t.Context(), 2*time.Minute)
	defer giveUp()
	for range 3 {
		if err := e.Place(ctx, order); err != nil {
			t.Fatal(err)
		}
		if o, err := e.Order(ctx, order); err != nil || o.State != registrar.OrderDone {
			t.Fatalf("got %+v, %v", o, err)
		}
	}
	cancel()
	all.Wait()
	e.server.Break(epptest.Fault{})
	if failed := e.checks(t, 10); failed > 0 {
		t.Errorf("%d lookups failed after that", failed)
	}
}

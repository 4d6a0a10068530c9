package app

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// sandbox returns the default configuration on free ports and in a folder of its own.
func sandbox(t *testing.T) Config {
	t.Helper()
	c := Default()
	c.Data, c.Version = filepath.Dir(sqldbtest.SQLiteFile(t)), "test"                                                                       // migrated, which takes longer than most tests
	c.Database.Timeout, c.Database.LockTimeout, c.Database.IdleTimeout, c.ChainTimeout = time.Minute, time.Minute, time.Minute, time.Minute // a busy machine is not a fault
	c.Listen, c.MetricsListen, c.ChainListen, c.DNSListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	return c
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// waitFor waits until the condition holds, for as long as a busy machine may need.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatal("the condition never held")
		}
		time.Sleep(time.Millisecond)
	}
}

// get returns the status and body of a GET request.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// The default configuration is a sandbox that serves callers and operators until its
// context is done.
func TestOpenStartServeClose(t *testing.T) {
	a, err := Open(t.Context(), sandbox(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	waitFor(t, func() bool { status, _ := get(t, a.URL()+"/readyz"); return status == 200 }) // a check takes too long on a busy machine
	if status, body := get(t, a.OperatorsURL()+"/metrics"); status != 200 || !strings.Contains(body, "deed_") {
		t.Errorf("operators: got %d %.100s", status, body)
	}
	if !a.Sandbox() || a.DNS() == "" {
		t.Errorf("got sandbox %v, DNS %q", a.Sandbox(), a.DNS())
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// A failed Open leaves no port, file lock or connection behind: the same
// configuration opens as soon as the cause is gone.
func TestFailedOpenLeavesNothingOpen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() // it is closed below
	c := sandbox(t)
	for _, listen := range []*string{&c.ChainListen, &c.DNSListen, &c.Listen, &c.MetricsListen} {
		free := *listen
		*listen = taken.Addr().String()
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("%s is taken, and nothing fails", *listen)
		}
		*listen = free
	}
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Admin commands open the services without an HTTP interface.
func TestListenOff(t *testing.T) {
	c := sandbox(t)
	c.Listen = "off"
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if a.API != nil || a.HTTP != nil || a.Callers != nil || a.OperatorsURL() != "" {
		t.Error("it has an HTTP interface")
	}
	if all, err := a.FinishRestore(t.Context(), true); err != nil || len(all) != 0 {
		t.Errorf("got %v, %v", all, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// What a hook gives is used, and left open.
func TestHooks(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := sandbox(t)
		at := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
		c.Hooks.DB, c.Hooks.Now, c.Hooks.SignInNow = db, func() time.Time { return at }, func() time.Time { return at.Add(time.Hour) }
		a, err := Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.API.Registrations.Now(); !got.Equal(at) {
			t.Errorf("orders: got %s", got)
		}
		if got := a.API.SignIn.Now(); !got.Equal(at.Add(time.Hour)) {
			t.Errorf("sign-in: got %s", got)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("the database is closed: %v", err)
		}
	})
}

// Without configuration the embedded registry sells everything.
func TestEmbeddedRegistrar(t *testing.T) {
	a, err := Open(t.Context(), sandbox(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	if got := a.registrar.Backends(); len(got) != 1 {
		t.Errorf("got %d registrars, want 1", len(got))
	}
	if b, err := a.registrar.Seller("com"); err != nil || b.Name != "local" {
		t.Errorf("got %q, %v", b.Name, err)
	}
}

// A node on an external chain without a treasury opens, and sells nothing.
func TestWithoutTreasury(t *testing.T) {
	c := sandbox(t)
	c.ChainRPCURL, c.AllowEmbedded, c.Proxies = "http://127.0.0.1:1", true, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*deed.Error](a.API.NotReady); !ok || e.Code != deed.CodeUnavailable || a.Sandbox() {
		t.Errorf("got %v", a.API.NotReady)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

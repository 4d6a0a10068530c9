package epp_test

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/registrartest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// start is a leap day, for the edge cases of adding years.
var start = time.Date(2028, time.February, 29, 12, 0, 0, 0, time.UTC)

type eppConfig = epp.Config

// A clock only moves with Advance.
type clock struct{ passed atomic.Int64 }

func (c *clock) Now() time.Time          { return start.Add(time.Duration(c.passed.Load())) }
func (c *clock) Advance(d time.Duration) { c.passed.Add(int64(d)) }

// An env is a registry, and a backend that is connected to it.
type env struct {
	*epp.Backend
	*clock
	server   *epptest.Server
	registry *local.Registry
	config   epp.Config
}

// open starts a registry and opens a backend for it. The functions change their
// configurations.
func open(t *testing.T, change ...func(*epptest.Config, *eppConfig)) env {
	t.Helper()
	db := sqldbtest.SQLite(t)
	c := &clock{}
	r := &local.Registry{Store: sqldb.Registry{DB: db}, Now: c.Now, Faults: &local.Faults{Slow: time.Hour, Late: time.Minute}}
	files := epptest.ClientFiles(t, 90*24*time.Hour)
	server := epptest.Config{Registry: r}
	config := epp.Config{
		ClientID: epptest.ClientID, Password: epptest.Password,
		CertFile: files.Cert, KeyFile: files.Key, CAFile: files.CA,
		Secret: "a secret of this service", Now: c.Now,
		Limits: epp.Limits{Timeout: time.Minute, KeepAlive: time.Hour, IdleTime: time.Hour},
		Log:    slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&server, &config)
	}
	e := env{clock: c, registry: r, server: epptest.Start(t, server)}
	config.Address = e.server.Addr()
	e.config = config
	e.Backend = e.node(t)
	return e
}

// node opens one more backend for the same account.
func (e env) node(t *testing.T) *epp.Backend {
	t.Helper()
	b, err := epp.Open(e.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() }) // it cannot fail
	return b
}

// orders are the commands that buy something.
var orders = []string{"create", "renew", "transfer request"}

// breaks activates a fault of the suites: of the connection, or of the registry.
func (e env) breaks(t *testing.T, f registrartest.Fault, times int) {
	e.server.Break(epptest.Fault{})
	kind := local.FaultNone
	switch f {
	case registrartest.Down:
		e.server.Break(epptest.Fault{Kind: epptest.CutBefore, Times: times})
	case registrartest.Slow:
		e.server.Break(epptest.Fault{Kind: epptest.Slow, Times: times})
	case registrartest.LostReply:
		e.server.Break(epptest.Fault{Kind: epptest.CutAfter, Times: times, Only: orders})
	default:
		kind = local.Fault(f)
	}
	if err := e.registry.Faults.Set(kind, times); err != nil {
		t.Fatal(err)
	}
}

// suiteEnv returns the Env of the suites.
func suiteEnv(t *testing.T, change ...func(*epptest.Config, *eppConfig)) registrartest.Env {
	e := open(t, change...)
	return registrartest.Env{
		Registrar: e, Manager: e, Reserved: "whois.com", Now: e.Now, Advance: e.Advance, Late: time.Minute, GraceDays: 45,
		Break:    e.breaks,
		Received: func() { <-e.server.Received },
		Elsewhere: func(t *testing.T, n deed.Name) deed.Secret {
			code, err := e.registry.Elsewhere(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return code
		},
		Leave:  func(n deed.Name, code deed.Secret) error { return e.registry.Leave(context.Background(), n, code) },
		Decide: func(n deed.Name, approve bool) error { return e.registry.Decide(context.Background(), n, approve) },
	}
}

func TestSuites(t *testing.T) {
	registrartest.All(t, registrartest.ByState, func(t *testing.T) registrartest.Env { return suiteEnv(t) })
}

// A recorder counts the errors in a log.
type recorder struct {
	slog.Handler
	errs atomic.Int64
}

func (r *recorder) logger() *slog.Logger {
	r.Handler = slog.DiscardHandler
	return slog.New(r)
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	if rec.Level >= slog.LevelError {
		r.errs.Add(1)
	}
	return nil
}

func (r *recorder) count() int { return int(r.errs.Load()) }

// replace replaces the client's certificate and key.
func replace(t *testing.T, f epptest.Files, c epp.Config) {
	t.Helper()
	for from, to := range map[string]string{f.Cert: c.CertFile, f.Key: c.KeyFile} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
}

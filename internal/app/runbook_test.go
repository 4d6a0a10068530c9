//go:build linux

package app

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/docs"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/postgrestest"
	"deed.example/deed/internal/signer/signertest"
)

// A fault is caused on a node that is to be opened, or that runs. Those without a
// cause are caused by another test, which is named.
type fault struct {
	configure func(t *testing.T, c *Config)
	cause     func(t *testing.T, a *App, c *client.Client)
	elsewhere string
}

// unreachable is an address where nothing listens.
const unreachable = "http://127.0.0.1:1"

// faults are the sections of docs/runbook.md.
func runbookFaults(t *testing.T) map[string]fault {
	var server *postgrestest.Server
	var disk string
	var signer *signertest.Web3Signer
	onPostgres := func(t *testing.T, c *Config) {
		server = postgrestest.Start(t)
		c.DatabaseURL = deed.Secret(postgrestest.URL("postgres", server))
	}
	kill := func(*testing.T, *App, *client.Client) { server.Kill() }
	return map[string]fault{
		"Database down": {configure: onPostgres, cause: kill},
		"Requests fail": {configure: onPostgres, cause: func(t *testing.T, a *App, _ *client.Client) {
			server.Kill()
			waitFor(t, func() bool { // its last processes may still answer
				w := httptest.NewRecorder()
				a.API.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/domains/missing.com", nil))
				return w.Code >= http.StatusInternalServerError
			})
		}},
		"A row is locked": {configure: onPostgres, cause: func(t *testing.T, _ *App, _ *client.Client) {
			conn, err := pgx.Connect(t.Context(), postgrestest.URL("postgres", server))
			if err == nil {
				t.Cleanup(func() { conn.Close(context.Background()) }) // ends the transaction
				_, err = conn.Exec(t.Context(), `BEGIN; LOCK TABLE nodes`)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		"Disk full": {
			configure: func(t *testing.T, c *Config) { disk = smallDisk(t); c.Data = filepath.Join(disk, "data") },
			cause:     func(t *testing.T, _ *App, _ *client.Client) { fill(t, disk) },
		},
		"Cache down": {configure: func(_ *testing.T, c *Config) { c.CacheURL = "redis://127.0.0.1:1/0" }},
		"One RPC endpoint down": {configure: func(t *testing.T, c *Config) {
			c.ChainRPCURL, c.ChainFallback, c.AllowEmbedded = unreachable, otherChain(t), true
		}},
		"All RPC endpoints down": {configure: func(_ *testing.T, c *Config) { c.ChainRPCURL, c.AllowEmbedded = unreachable, true }},
		"Signer down": {
			configure: func(t *testing.T, c *Config) { signer = onSigner(t, c) },
			cause:     func(*testing.T, *App, *client.Client) { signer.Down.Store(true) },
		},
		"Wrong chain": {configure: func(t *testing.T, c *Config) {
			c.ChainID, c.ChainRPCURL, c.AllowEmbedded = 8453, otherChain(t), true
		}},
		"Registrar down": {cause: func(t *testing.T, _ *App, c *client.Client) {
			if _, err := c.SetFaults(t.Context(), api.FaultsRequest{Registrar: "down"}); err != nil {
				t.Fatal(err)
			}
		}},
		"Name server down": {cause: func(t *testing.T, a *App, _ *client.Client) {
			if err := a.NameServer.Close(); err != nil {
				t.Fatal(err)
			}
		}},
		"Wallets run low":        {configure: func(_ *testing.T, c *Config) { c.RefundFloor = 100_000_000 * 100 * deed.Cent }},
		"An activity is stopped": {cause: func(t *testing.T, a *App, _ *client.Client) { operated(t, a)("stop", "purchases") }},
		"Payments stalled":       {elsewhere: "internal/app: TestStalledPaymentIsVisible"},
		"Zones behind":           {elsewhere: "internal/zone: the monitor, after a minute"},
		"Node down":              {elsewhere: "deploy/prometheus/alerts_test.yml"},
	}
}

// otherChain returns the endpoint of the embedded chain of another sandbox.
func otherChain(t *testing.T) deed.Secret {
	t.Helper()
	other, err := Open(t.Context(), sandbox(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	return deed.Secret(other.chain.sandbox.RPCURL)
}

var runbookLine = regexp.MustCompile(`(?m)^- \*\*(Log|Metric|Alert)\*\*: (.*)$`)

// sections returns the signs of each fault in the runbook: log, metric and alerts.
func sections(t *testing.T) map[string]map[string]string {
	t.Helper()
	page, err := docs.Files.ReadFile("runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, text := range strings.Split(string(page), "\n## ")[1:] {
		heading, _, _ := strings.Cut(text, "\n")
		out[heading] = map[string]string{}
		for _, m := range runbookLine.FindAllStringSubmatch(text, -1) {
			out[heading][m[1]] = strings.Trim(m[2], "`")
		}
	}
	return out
}

// Each fault shows the signs that the runbook names.
func TestRunbook(t *testing.T) {
	alerts, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	faults, pages := runbookFaults(t), sections(t)
	for heading := range faults {
		if pages[heading] == nil {
			t.Errorf("docs/runbook.md has no section %q", heading)
		}
	}
	for heading, signs := range pages {
		for alert := range strings.SplitSeq(signs["Alert"], "`, `") {
			if !strings.Contains(string(alerts), "alert: "+alert+"\n") {
				t.Errorf("%s: there is no alert %q", heading, alert)
			}
		}
		anchor := "docs/runbook.md#" + strings.ReplaceAll(strings.ToLower(heading), " ", "-")
		if !strings.Contains(string(alerts), anchor+`"`) && heading != "Disk full" && heading != "Wrong chain" { // they share an alert
			t.Errorf("no alert links to %s", anchor)
		}
		f, ok := faults[heading]
		if !ok {
			t.Errorf("no test causes %q", heading)
		}
		if f.elsewhere == "" {
			t.Run(heading, func(t *testing.T) { f.test(t, signs) })
		}
	}
}

func (f fault) test(t *testing.T, signs map[string]string) {
	var logged logtest.Buffer
	c := sandbox(t)
	c.Log, c.Database = slog.New(slog.NewTextHandler(&logged, nil)), Default().Database // its limits are faults, too
	c.Database.Timeout, c.ChainTimeout = 10*time.Second, Default().ChainTimeout
	if f.configure != nil {
		f.configure(t, &c)
	}
	a, buyer := serveNode(t, c, newKey(t))
	if f.cause != nil {
		f.cause(t, a, buyer)
	}
	waitFor(t, func() bool { return strings.Contains(logged.String(), signs["Log"]) })
	series := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(signs["Metric"]))
	waitFor(t, func() bool { return series.MatchString(scrape(t, a)) })
}

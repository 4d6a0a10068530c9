package app

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/freeport"
	"deed.example/deed/internal/fulfil"
)

// An audit checks the whole database while that is quick, a week after the last time,
// after a restore and with --full, and otherwise what changed since the last one.
func TestAuditContinues(t *testing.T) {
	c := sandbox(t)
	rpc, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	c.ChainListen = rpc.String()
	a, buyer := serveSandbox(t, c)
	if err := buyName(t, buyer, "audited.com"); err != nil {
		t.Fatal(err)
	}
	audit := func(full bool) AuditReport {
		t.Helper()
		r, err := Audit(t.Context(), c, full)
		if err != nil || r.ChainErr != nil {
			t.Fatal(err, r.ChainErr)
		}
		return r
	}
	waitFor(t, func() bool { r := audit(false); return r.sound() && r.Chain.Transfers == 1 })
	quick := c.readCheckpoint()
	if quick.FullAt.IsZero() || quick.Newest.IsZero() {
		t.Fatalf("got %+v", quick)
	}
	for name, tt := range map[string]struct {
		change func(p *checkpoint)
		full   bool // the flag
		whole  bool // the whole database is checked
	}{
		"it is quick":              {func(*checkpoint) {}, false, true},
		"it takes long":            {func(p *checkpoint) { p.FullSeconds = 60 }, false, false},
		"a week later":             {func(p *checkpoint) { p.FullSeconds, p.FullAt = 60, p.FullAt.AddDate(0, 0, -8) }, false, true},
		"after a restore":          {func(p *checkpoint) { p.FullSeconds, p.Newest = 60, p.Newest.Add(time.Second) }, false, true},
		"another database":         {func(p *checkpoint) { p.FullSeconds, p.Database = 60, "another" }, false, true},
		"everything was asked for": {func(p *checkpoint) { p.FullSeconds = 60 }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := quick
			tt.change(&p)
			if err := c.writeCheckpoint(p); err != nil {
				t.Fatal(err)
			}
			if r := audit(tt.full); r.Since.IsZero() != tt.whole || !r.sound() {
				t.Errorf("got %+v", r)
			}
		})
	}
	testUncompared(t, c)
	outside := c
	outside.PayTo, outside.ChainRPCURL, outside.ChainFallback = string(a.money.payTo), "http://127.0.0.1:1", deed.Secret("http://"+c.ChainListen)
	if r, err := Audit(t.Context(), outside, true); err != nil || r.ChainErr != nil || !r.sound() {
		t.Errorf("with the fallback endpoint only: got %+v, %v", r, err)
	}
	if err := errors.Join(os.Remove(c.checkpointFile()), os.Mkdir(c.checkpointFile(), 0o700)); err != nil {
		t.Fatal(err)
	}
	if r := audit(false); r.NotKept == nil || !r.sound() {
		t.Errorf("it cannot say how far it came: got %+v", r)
	}
	if err := os.Remove(c.checkpointFile()); err != nil {
		t.Fatal(err)
	}
	long := quick
	long.FullSeconds = 60
	if err := c.writeCheckpoint(long); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+c.databaseFile()+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // only a test's connection
	if _, err := db.ExecContext(t.Context(), `DELETE FROM ledger WHERE account = 'revenue'`); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(c.checkpointFile())
	if err != nil {
		t.Fatal(err)
	}
	if r := audit(false); r.Since.IsZero() || r.sound() {
		t.Errorf("got %+v, want that a recent payment is not in the ledger", r)
	}
	if after, err := os.ReadFile(c.checkpointFile()); err != nil || string(after) != string(written) {
		t.Errorf("the next audit would not look at it: %s, %v", after, err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE payments SET payer = '0x01'`); err != nil {
		t.Fatal(err)
	}
	if r := audit(true); len(r.Chain.Unbooked) != 1 {
		t.Errorf("got %+v, want that somebody else is in the books as the payer", r.Chain)
	}
}

// testUncompared audits a deployment whose chain is not there, and one that takes no
// payments.
func testUncompared(t *testing.T, c Config) {
	t.Helper()
	port, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	down, free := c, c
	down.ChainListen = port.String()
	free.ChainRPCURL, free.PayTo = deed.Secret("http://"+port.String()), ""
	for _, tt := range []struct {
		config Config
		fails  bool
	}{{down, true}, {free, false}} {
		r, err := Audit(t.Context(), tt.config, false)
		if err != nil || r.Chain != nil || (r.ChainErr != nil) != tt.fails {
			t.Errorf("got %+v, %v", r, err)
		}
	}
}

// An audit needs the addresses of our wallets, and none of their keys.
func TestAuditWithoutKeys(t *testing.T) {
	c := sandbox(t)
	rpc, err := freeport.Find()
	if err != nil {
		t.Fatal(err)
	}
	c.ChainListen = rpc.String()
	serveSandbox(t, c)
	for _, key := range []string{"treasury.key", "gas.key", "refund.key"} {
		if err := os.Remove(filepath.Join(c.chainFolder(), key)); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := Audit(t.Context(), c, false); err != nil || r.ChainErr != nil || r.Chain == nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

// What was not compared is compared by the next audit: the checkpoint stays.
func TestAuditWithUnreadBlocksIsNotSound(t *testing.T) {
	for name, tt := range map[string]struct {
		chain *fulfil.Comparison
		want  bool
	}{
		"all was read":   {&fulfil.Comparison{}, true},
		"a block is not": {&fulfil.Comparison{Unread: []string{"block 3: too large"}}, false},
		"nothing is":     {nil, false},
	} {
		r := AuditReport{Chain: tt.chain}
		if got := r.sound(); got != tt.want {
			t.Errorf("%s: got %t, want %t", name, got, tt.want)
		}
	}
}

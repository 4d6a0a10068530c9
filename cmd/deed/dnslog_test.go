package main

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// What the notifier and the primary tell goes where all else goes, in the format
// and at the level that were asked for.
func TestNotifierAndPrimaryLogThroughOurLogger(t *testing.T) {
	c := defaultConfig()
	c.Data, c.ChainListen, c.DNSListen, c.LogFormat, c.LogLevel = t.TempDir(), "127.0.0.1:0", "off", "json", slog.LevelWarn
	c.PrimaryListen, c.PrimaryAllow = "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Secondaries = []string{"nobody@127.0.0.1:1"}
	logs := &lockedBuffer{}
	b, err := openBackends(t.Context(), c, newLogger(c, logs))
	if err != nil {
		t.Fatal(err)
	}
	b.log.Info("below the level")
	if err := b.db.Close(); err != nil { // now neither can do its work
		t.Fatal(err)
	}
	client := dns.Client{Net: "tcp", Timeout: 30 * time.Second}
	if _, _, err := client.ExchangeContext(t.Context(), new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA), b.dns.primary.Addr().String()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		said := logs.String()
		return strings.Contains(said, "cannot read the catalog") && strings.Contains(said, "cannot read a zone for a secondary")
	})
	_ = b.close() // the database is closed already
	for line := range strings.Lines(logs.String()) {
		var event struct{ Level string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Level != "WARN" && event.Level != "ERROR" {
			t.Errorf("got %q, %v", line, err)
		}
	}
}

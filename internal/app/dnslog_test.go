package app

import (
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/logtest"
)

// The notifier and the primary log where everything else does, in the format and at
// the level of the configured logger.
func TestNotifierAndPrimaryLogThroughOurLogger(t *testing.T) {
	logs := &logtest.Buffer{}
	c := sandbox(t)
	c.DNSListen, c.Log = "off", slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	c.PrimaryListen, c.PrimaryAllow = "127.0.0.1:0", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Secondaries = []string{"nobody@127.0.0.1:1"}
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	a.log.Info("below the level")
	if err := a.DB.Close(); err != nil { // now neither can do its work
		t.Fatal(err)
	}
	client := dns.Client{Net: "tcp", Timeout: 30 * time.Second}
	if _, _, err := client.ExchangeContext(t.Context(), new(dns.Msg).SetQuestion("example.com.", dns.TypeSOA), a.dns.primary.Addr().String()); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		text := logs.String()
		return strings.Contains(text, "cannot read the catalog") && strings.Contains(text, "cannot read a zone for a secondary")
	})
	_ = a.Close() // the database is closed already
	for line := range strings.Lines(logs.String()) {
		var event struct{ Level string }
		if err := json.Unmarshal([]byte(line), &event); err != nil || event.Level != "WARN" && event.Level != "ERROR" {
			t.Errorf("got %q, %v", line, err)
		}
	}
}

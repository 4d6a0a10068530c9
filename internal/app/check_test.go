package app

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Check refuses what Open refuses, and both name the setting.
func TestCheckRefusesWhatOpenRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere", "file")
	for name, tt := range map[string]struct {
		change  func(c *Config)
		setting string
	}{
		"no such transfer keys":     {func(c *Config) { c.TSIG = nowhere }, "dns.tsig"},
		"empty transfer keys":       {func(c *Config) { c.TSIG = empty }, "dns.tsig"},
		"a secondary without a key": {func(c *Config) { c.Secondaries = []string{"ns1.example.net@192.0.2.1:53/k"} }, "dns.secondaries"},
		"empty token keys":          {func(c *Config) { c.SigninKeys = empty }, "signin.keys"},
		"token keys in no folder":   {func(c *Config) { c.SigninKeys = nowhere }, "signin.keys"},
		"an empty key of the agent": {func(c *Config) { c.AgentKey = empty }, "agent.key"},
		"key of the agent in none":  {func(c *Config) { c.AgentKey = nowhere }, "agent.key"},
		"an empty key of zones":     {func(c *Config) { c.DNSKey = empty }, "dns.key"},
		"key of zones in no folder": {func(c *Config) { c.DNSKey = nowhere }, "dns.key"},
		"a mail server, no sender":  {func(c *Config) { c.EmailServer = "smtp://mail.example.net" }, "email.from"},
		"a data folder in a file":   {func(c *Config) { c.Data = filepath.Join(empty, "data") }, "data"},
		"a database without a port": {func(c *Config) { c.DatabaseURL = "postgres://127.0.0.1:x/deed" }, "database.url"},
		"a cache without a port":    {func(c *Config) { c.CacheURL = "redis://127.0.0.1:x" }, "cache.url"},
		"roots that are not there": {func(c *Config) {
			c.RedirectTLSListen, c.ACMEEmail, c.ACMERoots = "127.0.0.1:0", "a@example.com", nowhere
		}, "redirect.acme_roots"},
		"a factory that is no wallet": {func(c *Config) { c.WalletFactories = "x" }, "chain.wallet_factories"},
	} {
		c := sandbox(t)
		tt.change(&c)
		before := filesIn(t, c.Data)
		if _, err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), tt.setting) {
			t.Errorf("%s: Check: got %v, want an error about %s", name, err, tt.setting)
		}
		if after := filesIn(t, c.Data); !slices.Equal(after, before) {
			t.Errorf("%s: Check made %v of %v", name, after, before)
		}
		a, err := Open(t.Context(), c)
		if err == nil {
			err = a.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), tt.setting) {
			t.Errorf("%s: Open: got %v, want an error about %s", name, err, tt.setting)
		}
	}
}

// filesIn returns the names in a folder; none if it cannot be read.
func filesIn(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A configuration that can start passes, before its first start and after it, and no
// folder is made.
func TestCheckAcceptsASandbox(t *testing.T) {
	c := sandbox(t)
	c.Data = filepath.Join(c.Data, "not", "there")
	if _, err := c.Check(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(c.Data)); err == nil {
		t.Error("Check made the data folder")
	}
	c = sandbox(t)
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Check(); err != nil {
		t.Error(err)
	}
}

// An address that another process uses is named with its setting and with what to do.
func TestAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() // nothing was sent
	address := taken.Addr().String()
	for setting, change := range map[string]func(c *Config){
		"listen":             func(c *Config) { c.Listen = address },
		"metrics.listen":     func(c *Config) { c.MetricsListen = address },
		"chain.listen":       func(c *Config) { c.ChainListen = address },
		"dns.listen":         func(c *Config) { c.DNSListen = address },
		"dns.primary_listen": func(c *Config) { c.PrimaryListen = address },
		"redirect.listen":    func(c *Config) { c.RedirectListen = address },
	} {
		c := sandbox(t)
		change(&c)
		_, err := Open(t.Context(), c)
		if err == nil || !strings.HasPrefix(err.Error(), setting+": ") || !strings.Contains(err.Error(), "or set another address") {
			t.Errorf("%s: got %v", setting, err)
		}
	}
}

// What cannot be reached at the start, or is not there, is named by its setting.
func TestStartErrorsNameTheirSetting(t *testing.T) {
	for setting, change := range map[string]func(c *Config){
		"database.url": func(c *Config) { c.DatabaseURL = "postgres://127.0.0.1:1/deed" },
		"chain.rpc_url": func(c *Config) {
			*c = *realConfig(t)
			c.AllowEmbedded, c.ChainRPCURL, c.ChainTimeout = true, "http://127.0.0.1:1", 0
			c.Listen, c.DNSListen = off, off
			c.PayTo = "0x1111111111111111111111111111111111111111"
		},
	} {
		c := sandbox(t)
		change(&c)
		if a, err := Open(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), setting+": ") {
			t.Errorf("%s: got %v, %v", setting, a, err)
		}
	}
	c := sandbox(t)
	c.DatabaseURL = "postgres://127.0.0.1:1/deed"
	if err := BackUp(t.Context(), c, "copy"); err == nil || !strings.HasPrefix(err.Error(), "database.url: ") {
		t.Errorf("got %v", err)
	}
	c.DatabaseURL, c.Data = "", t.TempDir()
	for name, run := range map[string]func() error{
		"a copy":       func() error { return BackUp(t.Context(), c, "copy") },
		"new serials":  func() error { _, err := Republish(t.Context(), c); return err },
		"new DNS keys": func() error { _, err := RollKeys(t.Context(), c, ""); return err },
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), "--config") || !strings.Contains(err.Error(), "--data") {
			t.Errorf("%s of no database: got %v", name, err)
		}
	}
	if made := filesIn(t, c.Data); len(made) > 0 {
		t.Errorf("there are %v", made)
	}
}

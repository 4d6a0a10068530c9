package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// eppFile writes a configuration with an EPP registry, and returns its path.
func eppFile(t *testing.T, address, more string) string {
	t.Helper()
	dir := t.TempDir()
	files := epptest.ClientFiles(t, 10*24*time.Hour)
	password := filepath.Join(dir, "password")
	path := filepath.Join(dir, "deed.toml")
	for file, text := range map[string]string{password: epptest.Password, path: fmt.Sprintf(`
data = %q
[registrar.outside]
type = "epp"
tlds = ["com", "net"]
address = %q
client_id = %q
password_file = %q
cert_file = %q
key_file = %q
ca_file = %q
timeout = "1m"
%s
[registrar.rest]
type = "local"
tlds = "*"
`, dir, address, epptest.ClientID, password, files.Cert, files.Key, files.CA, more)} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// runAdmin runs an admin command, and returns its output.
func runAdmin(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := adminCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage = true
	err := cmd.Execute()
	return out.String(), err
}

// Operators see which registrars are configured, whether they respond, and what is
// about to break; nothing is bought.
func TestAdminRegistrar(t *testing.T) {
	registry := &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Now: time.Now}
	server := epptest.Start(t, epptest.Config{Registry: registry})
	path := eppFile(t, server.Addr(), "")
	out, err := runAdmin("registrar", "ls", "--config", path)
	if err != nil || !strings.Contains(out, "outside  epp    com net") || !strings.Contains(out, "rest     local  *") {
		t.Errorf("got %q, %v", out, err)
	}
	if out, err = runAdmin("registrar", "check", "outside", "--config", path); err != nil || !strings.Contains(out, "responds") {
		t.Errorf("before the first start: got %q, %v", out, err)
	}
	startOnce(t, path)
	out, err = runAdmin("registrar", "check", "outside", "--config", path)
	for _, want := range []string{"outside (epp)", "responds", "USD", ".com", "expires"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("got %q, %v, want %q in it", out, err, want)
		}
	}
	if kinds, _ := server.Commands(); strings.Contains(strings.Join(kinds, " "), "create") {
		t.Errorf("a check sent %v", kinds)
	}
	if _, err := runAdmin("registrar", "check", "nobody", "--config", path); err == nil {
		t.Error("an unknown registrar was checked")
	}
	server.Close()
	if out, err = runAdmin("registrar", "check", "outside", "--config", path); err == nil || !strings.Contains(out, "DOES NOT RESPOND") {
		t.Errorf("down: got %q, %v", out, err)
	}
}

// startOnce creates the data folder of a configuration.
func startOnce(t *testing.T, path string) {
	t.Helper()
	cmd := serveCommand()
	if err := cmd.ParseFlags([]string{"--config", path, "--listen", "127.0.0.1:0", "--chain-listen", "127.0.0.1:0", "--dns-listen", "off", "--metrics-listen", "off"}); err != nil {
		t.Fatal(err)
	}
	c, _, err := readConfig(cmd.Flags(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(t.Context(), c.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Mistakes in a block are found at the start, all at once, with the keys that there
// are.
func TestWrongRegistrarBlock(t *testing.T) {
	path := eppFile(t, "127.0.0.1:1", "sesions = 4\nauto_renew = \"perhaps\"")
	cmd := serveCommand()
	if err := cmd.ParseFlags([]string{"--config", path, "--listen", "127.0.0.1:0", "--chain-listen", "127.0.0.1:0", "--dns-listen", "off", "--metrics-listen", "off"}); err != nil {
		t.Fatal(err)
	}
	c, _, err := readConfig(cmd.Flags(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.Open(t.Context(), c.Config)
	if err == nil || !strings.Contains(err.Error(), "registrar.outside: ") || !strings.Contains(err.Error(), "there is no key sesions; there are address") ||
		!strings.Contains(err.Error(), "auto_renew must be one of false, true") {
		t.Errorf("got %v", err)
	}
}

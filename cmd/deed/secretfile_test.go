package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A secret that others can read does not start, whichever it is.
func TestSecretFilesThatOthersCanReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	start(t, dir).stop(t) // it makes good ones
	good := func(name string) string {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for flag, text := range map[string]string{
		"--dns-key":          good("dns.key"),
		"--dns-tsig":         "fleet-2026 " + fleetSecret + "\n",
		"--signin-keys":      good("signin.keys"),
		"--agent-key":        good("agent.key"),
		"--chain-gas-key":    good("chain/gas.key"),
		"--chain-refund-key": good("chain/refund.key"),
		"--database-url":     "postgres://deed:hunter2@127.0.0.1:1/deed",
		"--cache-url":        "redis://:hunter2@127.0.0.1:1/0",
	} {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o640); err != nil { // the umask has no say
			t.Fatal(err)
		}
		named := path
		if strings.HasSuffix(flag, "-url") {
			named = "file:" + path
		}
		args := []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0", flag, named}
		if strings.HasPrefix(flag, "--chain-") {
			args = append(args, "--chain-rpc-url", "http://127.0.0.1:1", "--registrar-allow-embedded", "true", "--pay-to", "0x71C7656EC7ab88b098defB751B7401B5f6d8976F",
				"--chain-gas-key", filepath.Join(dir, "chain/gas.key"), "--chain-refund-key", filepath.Join(dir, "chain/refund.key"), flag, named)
		}
		out, err := exec.Command(binary, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), path+" can be read by others (mode 0640): chmod 600 it") || strings.Contains(string(out), strings.TrimSpace(text)) {
			t.Errorf("%s: got %v: %s", flag, err, out)
		}
	}
	for _, name := range []string{"chain/treasury.key", "chain/gas.key", "chain/refund.key", "chain/faucet.key", "dns.key", "signin.keys", "agent.key"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: got mode %v, %v, want 0600", name, info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(binary, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "127.0.0.1:0").CombinedOutput()
		if err == nil || !strings.Contains(string(out), path+" can be read by others (mode 0644): chmod 600 it") {
			t.Errorf("%s: got %v: %s", name, err, out)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

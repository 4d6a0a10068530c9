package keyfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"deed.example/deed/internal/keyfile"
)

func TestSigningKeyIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	if _, err := keyfile.OpenSigning(path); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"readable by others":  {string(good), 0o640},
		"empty":               {"", 0o600},
		"not PEM":             {"secret", 0o600},
		"a second key is bad": {string(good) + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600},
		"not a key":           {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600},
	} {
		bad := filepath.Join(t.TempDir(), "agent.key")
		if err := os.WriteFile(bad, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.OpenSigning(bad); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
	if _, err := keyfile.OpenSigning(filepath.Join(t.TempDir(), "nowhere", "agent.key")); err == nil {
		t.Error("a missing folder is accepted")
	}
}

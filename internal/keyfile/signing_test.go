package keyfile_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"deed.example/deed/internal/keyfile"
)

// Nodes that start at once on one folder have one key, which stays.
func TestSigningKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.key")
	keys := make([]string, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := keyfile.OpenSigning(path)
			if err != nil {
				t.Error(err)
				return
			}
			raw, err := key.Bytes()
			if err != nil {
				t.Error(err)
			}
			keys[i] = string(raw)
		})
	}
	wg.Wait()
	for _, key := range keys {
		if key != keys[0] {
			t.Errorf("got keys %x and %x", key, keys[0])
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("got %v, %v", files, err)
	}
}

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
		"readable by others": {string(good), 0o640},
		"empty":              {"", 0o600},
		"not PEM":            {"secret", 0o600},
		"not a key":          {"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600},
	} {
		bad := filepath.Join(t.TempDir(), "agent.key")
		if err := os.WriteFile(bad, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.OpenSigning(bad); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if _, err := keyfile.OpenSigning(filepath.Join(t.TempDir(), "nowhere", "agent.key")); err == nil {
		t.Error("a folder that is not there is taken")
	}
}

package keyfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed/internal/keyfile"
)

// opened opens a file of each kind and returns its key as text.
var opened = map[string]func(path string) (string, error){
	"token keys": func(path string) (string, error) {
		r, err := keyfile.Open(path, time.Now)
		if err != nil {
			return "", err
		}
		return r.Keys()[0].ID + " " + r.Keys()[0].Secret.Reveal(), nil
	},
	"zone secret": func(path string) (string, error) {
		secrets, err := keyfile.OpenZoneSecrets(path)
		if err != nil {
			return "", err
		}
		return secrets[0].Reveal(), nil
	},
	"signing key": func(path string) (string, error) {
		keys, err := keyfile.OpenSigning(path)
		if err != nil {
			return "", err
		}
		raw, err := keys[0].Bytes()
		return string(raw), err
	},
}

// Nodes that start concurrently get the same keys, which persist.
func TestKeysAreCreatedOnce(t *testing.T) {
	for name, open := range opened {
		path := filepath.Join(t.TempDir(), "key")
		keys := make([]string, 16)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range keys {
			wg.Go(func() {
				<-start
				var err error
				if keys[i], err = open(path); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		close(start)
		wg.Wait()
		again, err := open(path)
		for _, key := range keys {
			if err != nil || key != again || key == "" {
				t.Errorf("%s: got keys %x and %x, %v", name, key, again, err)
			}
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: got mode %v, %v", name, info.Mode(), err)
		}
		if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
			t.Errorf("%s: got %v, %v", name, files, err)
		}
	}
}

func TestInsecurePermissionsAreRefused(t *testing.T) {
	for name, open := range opened {
		path := filepath.Join(t.TempDir(), "key")
		if _, err := open(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := open(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCorruptKeysAreRefused(t *testing.T) {
	for name, open := range opened {
		for _, text := range []string{"", "hunter2", "0x" + strings.Repeat("z", 60)} {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := open(path); err == nil || text != "" && strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q: got %v", name, text, err)
			}
		}
		if _, err := open(filepath.Join(t.TempDir(), "nowhere", "key")); err == nil {
			t.Errorf("%s: a missing folder is accepted", name)
		}
	}
}

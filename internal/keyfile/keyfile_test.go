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

func TestOpenCreatesOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	r, err := keyfile.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %s, %v, want 0600", info.Mode(), err)
	}
	again, err := keyfile.Open(path, time.Now)
	if err != nil || len(r.Keys()) != 1 || r.Keys()[0] != again.Keys()[0] || len(r.Keys()[0].Secret.Reveal()) != 32 {
		t.Errorf("got %v then %v, %v", r.Keys(), again.Keys(), err)
	}
}

// A new key comes first and the old one stays valid; running nodes reload the file.
func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	now := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	r, err := keyfile.Open(path, clock)
	if err != nil {
		t.Fatal(err)
	}
	old := r.Keys()[0]
	if err := keyfile.Rotate(path); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour) // file systems may keep whole seconds only
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	now = now.Add(time.Second)
	mu.Unlock()
	keys := r.Keys()
	if len(keys) != 2 || keys[1] != old || keys[0].ID == old.ID || keys[0].Secret == old.Secret {
		t.Errorf("got %v after %v", keys, old)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("it left %v behind", left)
	}
}

// Only token keys are rotated: a key in front of another file's content would make that
// file unusable.
func TestRotateRefusesOtherFiles(t *testing.T) {
	for name, text := range map[string]string{
		"configuration": "listen = \"127.0.0.1:8080\"\n",
		"secret in hex": strings.Repeat("ab", 32) + "\n",
		"PEM":           "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"two words":     "carol hunter2\n",
	} {
		path := filepath.Join(t.TempDir(), "other")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := keyfile.Rotate(path)
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "signin.keys") || strings.Contains(err.Error(), strings.Fields(text)[0]) {
			t.Errorf("%s: got %v, want an error that names the file and not its content", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file is %q, %v", name, got, err)
		}
	}
	empty := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(empty, []byte("# token keys\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := keyfile.Rotate(empty); err != nil {
		t.Error(err)
	}
	if _, err := keyfile.Open(empty, time.Now); err != nil {
		t.Error(err)
	}
}

// A file that becomes corrupt at run time does not replace the loaded keys, and is reported:
// whoever has removed a leaked key must know that it is still in use.
func TestCorruptFileIsNotLoaded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	now := time.Now()
	r, err := keyfile.Open(path, func() time.Time { now = now.Add(2 * time.Second); return now })
	if err != nil {
		t.Fatal(err)
	}
	var reported []error
	r.OnError = func(err error) { reported = append(reported, err) }
	want := r.Keys()[0]
	good, err := os.ReadFile(path)
	if err != nil || len(reported) != 0 {
		t.Fatalf("got %v, %v", err, reported)
	}
	for name, spoil := range map[string]func() error{
		"corrupt": func() error { return os.WriteFile(path, []byte("nonsense"), 0o600) },
		"gone":    func() error { return os.Remove(path) },
	} {
		reported = nil
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got := r.Keys(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if len(reported) != 1 || strings.Contains(reported[0].Error(), "nonsense") {
			t.Errorf("%s: got %v, want one error", name, reported)
		}
	}
	if err := os.WriteFile(path, append([]byte("# repaired\n"), good...), 0o600); err != nil {
		t.Fatal(err)
	}
	reported = nil
	if got := r.Keys(); len(got) != 1 || got[0] != want || len(reported) != 0 {
		t.Errorf("repaired: got %v, %v", got, reported)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	secret := "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"empty":             {"\n# nothing\n", 0o600},
		"short secret":      {"a c2hvcnQ=\n", 0o600},
		"not base64":        {"a " + strings.Repeat("!", 44), 0o600},
		"an ID twice":       {"a " + secret + "\na " + secret, 0o600},
		"three words":       {"a b " + secret, 0o600},
		"readable by all":   {"a " + secret, 0o644},
		"readable by group": {"a " + secret, 0o640},
	} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		if _, err := keyfile.Open(path, time.Now); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

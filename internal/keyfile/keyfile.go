// Package keyfile knows how keys are written in files: the keys of tokens, the
// private keys of wallets, the secret of all zones, and the key that signs the
// agent card. Who may read such a file, and how it is written, is the business of
// package secretfile.
//
// The keys of tokens stand one a line, an ID and a secret. The first makes new
// tokens, all of them check old ones, so keys are changed by putting a new line
// first and taking the last one out an hour later, when its tokens have expired.
// A changed file is read within a second. Nodes that share a database share the
// file.
package keyfile

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/secretfile"
	"deed.example/deed/internal/signin"
)

const (
	secretBytes  = 32
	statInterval = time.Second
)

// A Ring is the keys of one file. Make one with Open.
type Ring struct {
	path string
	now  func() time.Time

	mu       sync.Mutex
	keys     []signin.TokenKey // guarded by mu, as all below it; never empty
	modified time.Time
	checked  time.Time
}

// Open reads the file at path, and makes it with one key when it is not there.
// Nodes that start at once end up with the same key.
func Open(path string, now func() time.Time) (*Ring, error) {
	if _, _, err := secretfile.ReadOrCreate(path, func() ([]byte, error) { return []byte(newTokenKey()), nil }); err != nil {
		return nil, fmt.Errorf("open the token keys: %w", err)
	}
	r := &Ring{path: path, now: now, checked: now()}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// Keys returns the keys; the first makes new tokens. The caller must not change
// the slice. A file that became unreadable leaves the keys as they were.
func (r *Ring) Keys() []signin.TokenKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.checked) >= statInterval || now.Before(r.checked) {
		r.checked = now
		if info, err := os.Stat(r.path); err == nil && !info.ModTime().Equal(r.modified) {
			_ = r.read() // the old keys are still good
		}
	}
	return r.keys
}

// read reads the file. The caller holds mu, or is alone. The time comes first: a
// file that changes in between is read again.
func (r *Ring) read() error {
	info, err := os.Stat(r.path)
	if err != nil {
		return fmt.Errorf("read the token keys: %w", err)
	}
	raw, err := secretfile.Read(r.path)
	if err != nil {
		return fmt.Errorf("read the token keys: %w", err)
	}
	keys, err := parse(string(raw))
	if err != nil {
		return fmt.Errorf("read the token keys in %s: %w", r.path, err)
	}
	r.keys, r.modified = keys, info.ModTime()
	return nil
}

func parse(text string) ([]signin.TokenKey, error) {
	var keys []signin.TokenKey
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 || seen[words[0]] {
			return nil, errors.New("a line is not an ID of its own and a secret")
		}
		secret, err := base64.StdEncoding.DecodeString(words[1])
		if err != nil || len(secret) < secretBytes {
			return nil, fmt.Errorf("the secret of %s is not %d bytes or more in base64", words[0], secretBytes)
		}
		seen[words[0]] = true
		keys = append(keys, signin.TokenKey{ID: words[0], Secret: deed.Secret(secret)})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}

// Rotate puts a new key first in the file at path, and makes the file when it
// is not there. Nobody ever sees half of it.
func Rotate(path string) error {
	old, err := secretfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the token keys: %w", err)
	}
	if err := secretfile.Write(path, append([]byte(newTokenKey()), old...)); err != nil {
		return fmt.Errorf("write the token keys: %w", err)
	}
	return nil
}

// newTokenKey returns the line of a new key.
func newTokenKey() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // it never fails
	return fmt.Sprintf("%s %s\n", strings.ToLower(rand.Text()[:8]), base64.StdEncoding.EncodeToString(secret))
}

// Package keyfile reads and writes key files: token keys, the master secret of all
// zones, and the key that signs the agent card. Wallet keys are read by package
// signer/file. Permissions and atomic writes are handled by package secretfile.
//
// Token keys are one per line, an ID and a secret. The first signs new tokens, all of
// them verify, so keys are rotated by adding a new first line and removing the last
// one an hour later, when its tokens have expired. A changed file is reloaded within
// a second. Nodes that share a database must share the file.
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

// A Ring holds the token keys of one file. Make one with Open.
type Ring struct {
	// OnError is called about once a second while a changed file cannot be read: then keys
	// that were removed from it are still in use. It may be nil, and is set before the
	// first call of Keys.
	OnError func(error)

	path string
	now  func() time.Time

	mu       sync.Mutex
	keys     []signin.TokenKey // guarded by mu, like all fields below; never empty
	modified time.Time
	checked  time.Time
}

// Open reads the file at path, or creates it with one key. Nodes that start
// concurrently end up with the same key.
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

// CheckTokenKeys returns the error that Open would, and creates nothing: that of a
// missing file is fs.ErrNotExist.
func CheckTokenKeys(path string) error { return (&Ring{path: path}).read() }

// Keys returns the keys; the first signs new tokens. The caller must not modify the
// slice. If the file becomes unreadable, the keys stay as they were.
func (r *Ring) Keys() []signin.TokenKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := r.now(); now.Sub(r.checked) >= statInterval || now.Before(r.checked) {
		r.checked = now
		if info, err := os.Stat(r.path); err != nil || !info.ModTime().Equal(r.modified) {
			r.reload()
		}
	}
	return r.keys
}

// reload reads the changed file, or keeps the old keys. The caller holds mu.
func (r *Ring) reload() {
	if err := r.read(); err != nil && r.OnError != nil {
		r.OnError(err)
	}
}

// read reads the file. The caller holds mu, or has exclusive access. The modification
// time is read first, so that a change in between is noticed later.
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
			return nil, errors.New("each line must be a unique ID and a secret")
		}
		secret, err := base64.StdEncoding.DecodeString(words[1])
		if err != nil || len(secret) < secretBytes {
			return nil, fmt.Errorf("the secret of %s is not %d bytes or more in base64", words[0], secretBytes)
		}
		seen[words[0]] = true
		keys = append(keys, signin.TokenKey{ID: words[0], Secret: deed.Secret(secret)})
	}
	if len(keys) == 0 {
		return nil, errNoKeys
	}
	return keys, nil
}

// errNoKeys is the error for a file that is empty or has only comments.
var errNoKeys = errors.New("the file has no keys")

// Rotate adds a new first key to the file at path, or creates it. The write is atomic.
// A file with anything but token keys is refused and left as it was: it may be another
// file of the service, which could not be read any more.
func Rotate(path string) error {
	old, err := secretfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the token keys: %w", err)
	}
	if _, err := parse(string(old)); err != nil && !errors.Is(err, errNoKeys) {
		// Without that error: its words may be from a file with other secrets.
		return fmt.Errorf("%s has lines that are not token keys, and was not changed: name the file of signin.keys, with an ID and a secret of %d bytes in base64 on each line", path, secretBytes)
	}
	if err := secretfile.Write(path, append([]byte(newTokenKey()), old...)); err != nil {
		return fmt.Errorf("write the token keys: %w", err)
	}
	return nil
}

// newTokenKey returns a line with a new key.
func newTokenKey() string {
	secret := make([]byte, secretBytes)
	rand.Read(secret) // never fails
	return fmt.Sprintf("%s %s\n", strings.ToLower(rand.Text()[:8]), base64.StdEncoding.EncodeToString(secret))
}

package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/client"
)

// A tokenFile stores the sign-in at one service.
type tokenFile struct{ path string }

func newTokenFile(folder, server string) tokenFile {
	sum := sha256.Sum256([]byte(server))
	return tokenFile{filepath.Join(folder, "signin", hex.EncodeToString(sum[:8])+".json")}
}

// saveTokens stores the sign-in at the service of the session; the zero Tokens end it.
func (s *session) saveTokens(t client.Tokens) error {
	folder, err := configFolder()
	if err != nil {
		return err
	}
	file := newTokenFile(folder, s.server)
	unlock, err := file.Lock(s.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return file.Save(s.ctx, t)
}

// savedTokens is the content of the file.
type savedTokens struct {
	Wallet  string    `json:"wallet"`
	Access  string    `json:"access"`
	Refresh string    `json:"refresh"`
	Expires time.Time `json:"expires"`
}

// Tokens reads the file. A missing or corrupt file means not signed in.
func (f tokenFile) Tokens(context.Context) (client.Tokens, error) {
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return client.Tokens{}, nil
	}
	if err != nil {
		return client.Tokens{}, err
	}
	var saved savedTokens
	if json.Unmarshal(raw, &saved) != nil {
		return client.Tokens{}, nil
	}
	return client.Tokens(saved), nil
}

// Save writes the file; zero tokens delete it.
func (f tokenFile) Save(_ context.Context, t client.Tokens) error {
	if t == (client.Tokens{}) {
		if err := os.Remove(f.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.Marshal(savedTokens(t))
	if err != nil {
		return err
	}
	return writeFile(f.path, raw)
}

// Lock waits until no other process refreshes these tokens.
func (f tokenFile) Lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		ok, err := tryLock(lock)
		if ok {
			return func() { lock.Close() }, nil // nothing was written to it
		}
		if err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
		}
		if err != nil {
			lock.Close() // likewise
			return nil, err
		}
	}
}

package redirect

import (
	"context"
	"crypto/rand"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"deed.example/deed"
)

// A Store keeps small files, for all nodes: the account, certificates, their keys, and
// challenges that wait for an answer. A key is a path without a leading slash.
// Implementations must be safe for concurrent use, and keep the values secret.
type Store interface {
	// SaveFile creates a file or replaces it.
	SaveFile(ctx context.Context, key string, value []byte) error

	// File returns a file and when it was saved, or fails with CodeNotFound.
	File(ctx context.Context, key string) (value []byte, saved time.Time, err error)

	// Files returns the keys of all files in a folder and the folders below it.
	Files(ctx context.Context, folder string) (keys []string, err error)

	// DeleteFiles deletes a file, or all files of a folder. There may be none.
	DeleteFiles(ctx context.Context, key string) error
}

// Locks are locks for all nodes, which end by themselves if their holder does not
// release them.
type Locks interface {
	// Lock takes the lock, or extends it if the holder has it already, and reports
	// whether the holder has it now.
	Lock(ctx context.Context, name, holder string, until time.Time) (bool, error)

	// Unlock releases the lock if the holder has it.
	Unlock(ctx context.Context, name, holder string) error
}

const (
	lockLease    = 3 * time.Minute // longer than an order takes
	lockInterval = time.Second     // between two attempts to take a lock
)

// storage implements certmagic.Storage on a Store.
type storage struct {
	files Store
	locks Locks
	now   func() time.Time

	mu   sync.Mutex
	held map[string]string // guarded by mu: as which holder we have a lock
}

var _ certmagic.Storage = (*storage)(nil)

// Lock implements certmagic.Locker.
func (s *storage) Lock(ctx context.Context, name string) error {
	holder := rand.Text()
	for {
		ok, err := s.locks.Lock(ctx, name, holder, s.now().Add(lockLease))
		if err != nil {
			return err
		}
		if ok {
			s.mu.Lock()
			s.held[name] = holder
			s.mu.Unlock()
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockInterval):
		}
	}
}

// Unlock implements certmagic.Locker.
func (s *storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	holder := s.held[name]
	delete(s.held, name)
	s.mu.Unlock()
	return s.locks.Unlock(ctx, name, holder)
}

// Store implements certmagic.Storage.
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	return s.files.SaveFile(ctx, key, value)
}

// Load implements certmagic.Storage.
func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	value, _, err := s.files.File(ctx, key)
	return value, missing(err)
}

// Delete implements certmagic.Storage.
func (s *storage) Delete(ctx context.Context, key string) error { return s.files.DeleteFiles(ctx, key) }

// Exists implements certmagic.Storage.
func (s *storage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// List implements certmagic.Storage.
func (s *storage) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	all, err := s.files.Files(ctx, folder)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	if recursive {
		return all, nil
	}
	var direct []string
	for _, key := range all {
		name, _, _ := strings.Cut(strings.TrimPrefix(key, folder+"/"), "/")
		if entry := folder + "/" + name; !slices.Contains(direct, entry) {
			direct = append(direct, entry)
		}
	}
	return direct, nil
}

// Stat implements certmagic.Storage.
func (s *storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	value, saved, err := s.files.File(ctx, key)
	if err == nil {
		return certmagic.KeyInfo{Key: key, Modified: saved, Size: int64(len(value)), IsTerminal: true}, nil
	}
	if deed.CodeOf(err) != deed.CodeNotFound {
		return certmagic.KeyInfo{}, err
	}
	below, err := s.files.Files(ctx, key)
	if err == nil && len(below) == 0 {
		err = fs.ErrNotExist
	}
	return certmagic.KeyInfo{Key: key}, err
}

// missing returns the error that the library knows for a file that does not exist.
func missing(err error) error {
	if deed.CodeOf(err) == deed.CodeNotFound {
		return fs.ErrNotExist
	}
	return err
}

package sqldb

import (
	"errors"
	"fmt"
	"os"
)

// lockFile takes the lock at path until release is called or the process ends, for
// whatever reason. A SQLite file has one owning process, which may cache what it
// read.
func lockFile(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	locked, err := tryLock(f)
	if err == nil && !locked {
		err = errors.New("another process is using this database: stop it first")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
	}
	return f.Close, nil
}

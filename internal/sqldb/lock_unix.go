//go:build unix

package sqldb

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of an open file until it is closed or the process ends.
// It reports false when another process has it.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

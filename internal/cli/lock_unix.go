//go:build unix

package cli

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file until it is closed or the process ends. It returns
// false if another process holds the lock.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

//go:build unix

package devchain

import (
	"errors"
	"os"
	"syscall"
)

// lockFile holds the lock at path until the file is closed or the process ends for
// any reason: two writers would corrupt the block log.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close() // nothing was written to it
		return nil, errors.New("another process has it open")
	}
	return f, nil
}

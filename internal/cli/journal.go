package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A journal keeps payments whose outcome is not known yet, each in a file, so
// that the same command repeats the payment of one that was interrupted.
type journal struct{ folder string }

// forgotten is when a payment is not repeated any more: the service has long
// done what was paid for, given the money back, or never heard of it. A command
// that is written again after so long means something new.
const forgotten = 24 * time.Hour

func (j journal) path(call string) string {
	return filepath.Join(j.folder, "payments", call)
}

// Payment returns what was written for a call, or "".
func (j journal) Payment(_ context.Context, call string) (string, error) {
	info, err := os.Stat(j.path(call))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if time.Since(info.ModTime()) > forgotten {
		return "", os.Remove(j.path(call))
	}
	raw, err := os.ReadFile(j.path(call))
	return string(raw), err
}

// Write keeps a payment for a call; "" forgets it.
func (j journal) Write(_ context.Context, call, payment string) error {
	if payment != "" {
		return writeFile(j.path(call), []byte(payment))
	}
	if err := os.Remove(j.path(call)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

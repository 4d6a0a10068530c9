package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A journal stores each payment with an unknown outcome in a file, so that
// repeating an interrupted command repeats its payment.
type journal struct{ folder string }

// journalExpiry is when a payment is not repeated any more: by then the service
// has delivered, refunded or never received it. The same command after that time
// is a new purchase.
const journalExpiry = 24 * time.Hour

func (j journal) path(call string) string {
	return filepath.Join(j.folder, "payments", call)
}

// Payment returns the payment that was written for a call, or "".
func (j journal) Payment(_ context.Context, call string) (string, error) {
	info, err := os.Stat(j.path(call))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if time.Since(info.ModTime()) > journalExpiry {
		return "", os.Remove(j.path(call))
	}
	raw, err := os.ReadFile(j.path(call))
	return string(raw), err
}

// Write stores a payment for a call; "" deletes it.
func (j journal) Write(_ context.Context, call, payment string) error {
	if payment != "" {
		return writeFile(j.path(call), []byte(payment))
	}
	if err := os.Remove(j.path(call)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

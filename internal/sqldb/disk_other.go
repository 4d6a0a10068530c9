//go:build !linux && !darwin

package sqldb

// freeBytes is not known here: a full disk is noticed when a write fails.
func freeBytes(string) (uint64, error) { return minFreeBytes, nil }

//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// forbidCoreDumps keeps keys, tokens and signatures that are in memory from a file that
// nobody watches. A limit of one byte is below the smallest core file, and Linux takes
// it as an order not to start a handler of core dumps either; with zero it would.
func forbidCoreDumps() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{Cur: 1, Max: 1}); err != nil {
		var now syscall.Rlimit
		if syscall.Getrlimit(syscall.RLIMIT_CORE, &now) == nil && now.Cur <= 1 {
			return nil // whoever started us has forbidden them
		}
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}

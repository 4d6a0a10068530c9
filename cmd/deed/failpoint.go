//go:build failpoint

package main

import (
	"os"
	"syscall"
	"time"
)

// In this build the process kills itself with SIGKILL when it first reaches the
// failpoint in FAILPOINT, and its clock is wrong by CLOCK_OFFSET.
func init() {
	if offset, err := time.ParseDuration(os.Getenv("CLOCK_OFFSET")); err == nil {
		localNow = func() time.Time { return time.Now().Add(offset) }
	}
	point := os.Getenv("FAILPOINT")
	failpoint = func(name string) {
		if name == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing follows
			select {}
		}
	}
}

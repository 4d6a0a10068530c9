//go:build failpoint

package main

import (
	"os"
	"syscall"
)

// In this build the process kills itself with SIGKILL when it first reaches the
// failpoint in FAILPOINT.
func init() {
	point := os.Getenv("FAILPOINT")
	failpoint = func(name string) {
		if name == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing follows
			select {}
		}
	}
}

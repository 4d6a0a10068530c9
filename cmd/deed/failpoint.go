//go:build failpoint

package main

import (
	"os"
	"syscall"
)

// In this build the process dies, as if by kill -9, when it comes to the point
// that FAILPOINT names for the first time.
func init() {
	point := os.Getenv("FAILPOINT")
	failpoint = func(name string) {
		if name == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // nothing follows
			select {}
		}
	}
}

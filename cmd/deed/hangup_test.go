package main

import (
	"strings"
	"syscall"
	"testing"
)

// A service whose terminal is closed ends as on SIGTERM.
func TestHangupStopsGracefully(t *testing.T) {
	n := start(t, t.TempDir())
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Wait(); err != nil || !strings.Contains(n.log.String(), "stopped") {
		t.Errorf("it ended with %v: %s", err, n.log)
	}
}

package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// A service whose terminal is closed ends as on SIGTERM.
func TestHangupStopsGracefully(t *testing.T) {
	// If this process ignores the signal, as under nohup, what it starts would, too.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	n := start(t, t.TempDir())
	if err := n.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Wait(); err != nil || !strings.Contains(n.log.String(), "stopped") {
		t.Errorf("it ended with %v: %s", err, n.log)
	}
}

//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
)

// A node that dies writes no core: neither a file nor to a handler.
func TestNoCoreDump(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir, "GOTRACEBACK=crash")
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", n.cmd.Process.Pid))
	if err != nil || !regexp.MustCompile(`(?m)^Max core file size +[01] +[01] `).Match(limits) {
		t.Errorf("got %s, %v", limits, err)
	}
	if err := n.cmd.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if err := n.cmd.Wait(); err == nil {
		t.Error("it did not die")
	}
	if status, ok := n.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.CoreDump() {
		t.Error("it dumped its memory")
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "core*")); len(found) > 0 { // fails on a bad pattern only
		t.Errorf("it left %v", found)
	}
}

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/lifecycle"
)

// A comparison notes how far it is, so that another process continues there, and knows
// that there were differences.
func TestReconcileState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	open := func() *reconciliation {
		t.Helper()
		r := &reconciliation{state: path, out: &bytes.Buffer{}, log: &bytes.Buffer{}}
		if err := r.resume(); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := open()
	if err := errors.Join(first.progress("", 0, 9), first.progress("", 3, 9)); err != nil || first.after != "" {
		t.Errorf("got %q, %v", first.after, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first page: got %v", err)
	}
	if err := first.progress("b.com", 4, 9); err != nil {
		t.Fatal(err)
	}
	second := open()
	if second.after != "b.com" || second.differed {
		t.Errorf("got %+v", second)
	}
	if err := errors.Join(second.report([]lifecycle.Difference{{Name: "c.com", What: lifecycle.DiffersLock}}), second.progress("d.com", 6, 9)); err != nil {
		t.Fatal(err)
	}
	if third := open(); third.after != "d.com" || !third.differed || third.reported {
		t.Errorf("got %+v", third)
	}
	for _, bad := range []string{"", "\x00\xff", "no name", strings.Repeat("a", 1<<16)} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &reconciliation{state: path, log: &bytes.Buffer{}}
		if err := r.resume(); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%.20q: got %v", bad, err)
		}
	}
}

// Only one of them can say where to continue.
func TestReconcileAfterOrState(t *testing.T) {
	cmd := reconcileCommand()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs([]string{"--after", "a.com", "--state", "file"})
	if err := cmd.Execute(); cli.ExitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
}

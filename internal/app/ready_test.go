//go:build linux

package app

import (
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/logtest"
)

// smallDisk mounts a file system of 64 MiB for as long as the test runs. It skips the
// test when this user may not mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		runtime.GC() // a snapshot of zones is unmapped when nobody can read it any more
		// A child process that was just forked may still have files of ours.
		waitFor(t, func() bool { return !errors.Is(syscall.Unmount(dir, 0), syscall.EBUSY) })
	})
	return dir
}

// fill fills the disk to its last byte.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // what it could not write does not matter
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	return filler
}

// A node whose disk is full is not ready, says so once, and is ready again when there
// is space.
func TestFullDiskIsNotReady(t *testing.T) {
	var logged logtest.Buffer
	disk := smallDisk(t)
	c := sandbox(t)
	c.Data, c.Log = filepath.Join(disk, "data"), slog.New(slog.NewTextHandler(&logged, nil))
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	node := httptest.NewServer(a.API.Handler())
	defer node.Close()
	ready := func() bool { status, _ := get(t, node.URL+"/readyz"); return status == 200 }
	if !ready() {
		t.Fatal("it is not ready at the start")
	}
	filler := fill(t, disk)
	waitFor(t, func() bool { return !ready() })
	if status, body := get(t, node.URL+"/health"); status != 503 || !strings.Contains(body, `"database":{"status":"down"`) {
		t.Errorf("health: got %d %s", status, body)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ready)
	if n := strings.Count(logged.String(), "the disk of the database is full"); n != 1 {
		t.Errorf("it is in %d lines of the log, want 1: %s", n, logged.String())
	}
}

// A node whose endpoint is on another chain is not ready: whatever it sold would be
// paid elsewhere.
func TestWrongChainIsNotReady(t *testing.T) {
	other, err := Open(t.Context(), sandbox(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := sandbox(t)
	c.ChainID, c.ChainRPCURL, c.AllowEmbedded = 8453, deed.Secret(other.chain.sandbox.RPCURL), true // its chain is 84532
	a, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	a.API.NotReady = nil // that there is no treasury is not what this test is about
	node := httptest.NewServer(a.API.Handler())
	defer node.Close()
	if status, body := get(t, node.URL+"/readyz"); status != 503 {
		t.Errorf("got %d %s", status, body)
	}
	if status, body := get(t, node.URL+"/health"); status != 503 || !strings.Contains(body, `"chain":{"status":"down"`) {
		t.Errorf("health: got %d %s", status, body)
	}
}

// Package npmtest runs third-party clients from npm in tests. A folder has a
// package.json and a lock file; their packages are installed once per process.
package npmtest

import (
	"context"
	"os/exec"
	"sync"
	"testing"
	"time"
)

var installed sync.Map // folder to *sync.Once

// An installation sometimes never ends after it has fetched all packages, so it is ended
// and repeated, with more time: the machine may only be slow.
const (
	installTime  = 3 * time.Minute
	installTimes = 3
)

// Install installs the packages of the folder's lock file, once.
func Install(t testing.TB, dir string) {
	t.Helper()
	once, _ := installed.LoadOrStore(dir, &sync.Once{})
	once.(*sync.Once).Do(func() { install(t, dir) })
}

func install(t testing.TB, dir string) {
	t.Helper()
	for n := 1; ; n++ {
		limit := time.Duration(n) * installTime
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		out, err := run(ctx, dir, "npm", "ci", "--no-audit", "--no-fund", "--prefer-offline")
		ended := ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return
		case ended || n == installTimes || t.Context().Err() != nil:
			t.Fatalf("npm ci (Node and npm must be on the PATH), attempt %d: %v\n%s", n, err, out)
		}
		t.Logf("npm ci did not end in %s: it is repeated", limit)
	}
}

// Run runs a program in a folder and returns its output. A missing program fails
// the test.
func Run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), dir, name, args...)
	if err != nil {
		t.Fatalf("%s %v (Node and npm must be on the PATH): %v\n%s", name, args, err, out)
	}
	return string(out)
}

func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Minute // for what it has started and left behind
	return cmd.CombinedOutput()
}

// Package npmtest runs third-party clients from npm in tests. A folder has a
// package.json and a lock file; their packages are installed once per process.
package npmtest

import (
	"os/exec"
	"sync"
	"testing"
)

var installed sync.Map // folder to *sync.Once

// Install installs the packages of the folder's lock file, once.
func Install(t testing.TB, dir string) {
	t.Helper()
	once, _ := installed.LoadOrStore(dir, &sync.Once{})
	once.(*sync.Once).Do(func() { Run(t, dir, "npm", "ci", "--no-audit", "--no-fund", "--prefer-offline") })
}

// Run runs a program in a folder and returns its output. A missing program fails
// the test.
func Run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v (Node and npm must be on the PATH): %v\n%s", name, args, err, out)
	}
	return string(out)
}

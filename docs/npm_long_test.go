//go:build long

package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"deed.example/deed/internal/npmtest"
)

// packages installs npm packages into a folder.
var packages = linkPackages

// linkPackages links the packages of the payers' lock file.
func linkPackages(t *testing.T, dir string) {
	t.Helper()
	payers := filepath.Join(repository(t), "cmd/deed/testdata/payers")
	npmtest.Install(t, payers)
	if err := os.Symlink(filepath.Join(payers, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
}

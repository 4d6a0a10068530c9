//go:build long

package contracts_test

import (
	"os"
	"path/filepath"
	"testing"

	"deed.example/deed/internal/npmtest"
)

// The committed code is what the committed sources compile to, byte for byte.
func TestContractsCompile(t *testing.T) {
	npmtest.Install(t, ".")
	out := t.TempDir()
	npmtest.Run(t, ".", "node", "compile.mjs", out)
	fresh, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := filepath.Glob("[A-Z]*.json")
	if err != nil || len(fresh) != len(committed) || len(fresh) == 0 {
		t.Fatalf("%d contracts were compiled and %d are committed (%v)", len(fresh), len(committed), err)
	}
	for _, f := range fresh {
		got, err := os.ReadFile(filepath.Join(out, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(f.Name())
		if err != nil || string(got) != string(want) {
			t.Errorf("%s is not what its source compiles to (%v): run npm run compile", f.Name(), err)
		}
	}
}

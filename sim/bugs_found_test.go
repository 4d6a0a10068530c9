//go:build bugs

package sim

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// bugSeeds is how many seeds the simulation may take to find a bug.
const bugSeeds = "1000"

var foundBy = regexp.MustCompile(`seed (\d+): (.*)`)

// TestBugsAreFound builds the simulation of each bug with it and runs it until it breaks.
func TestBugsAreFound(t *testing.T) {
	if os.Getenv("SIM_SEED") != "" {
		t.Skip("one seed is asked for")
	}
	for _, path := range bugs(t) {
		folder := folderOf(path)
		if folder == unfound {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		t.Run(name, func(t *testing.T) {
			files, err := applyPatch(path)
			if err != nil {
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), "go", "test", "-overlay="+overlay(t, files), "-count=1", "-timeout=1h", "-run=^"+simulations[folder]+"$", ".")
			child.Env = append(os.Environ(), "SIM_SEEDS="+bugSeeds)
			out, err := child.CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			found := foundBy.FindStringSubmatch(string(out))
			if err == nil || found == nil {
				t.Fatalf("not found in %s seeds: %v: %s", bugSeeds, err, lines[len(lines)-1])
			}
			t.Logf("%-36s seed %4s  %s", name, found[1], found[2])
		})
	}
}

// overlay writes the files down and returns the path of what tells go to build
// with them.
func overlay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range files {
		real, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		replace[real] = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(replace[real]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(replace[real], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

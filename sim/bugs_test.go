package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the folder of the module, seen from here.
const root = ".."

// unfound is the folder of bugs that no simulation finds; docs/testing.md says why.
const unfound = "unfound"

// simulations are the tests that find the bugs, by their folder in testdata/bugs.
var simulations = map[string]string{
	"plain":   "TestSimulation",
	"outside": "TestOutsideSimulation",
	"cancel":  "TestCancelSimulation",
	"mandate": "TestMandateSimulation",
}

// The bugs in testdata/bugs must be found by their simulation (see the tag bugs).
// They are patches, so that the code that handles money has no switches.
func TestBugsApply(t *testing.T) {
	patches := bugs(t)
	if len(patches) < 73 {
		t.Errorf("got %d bugs, want 73 at least", len(patches))
	}
	for _, path := range patches {
		if folder := folderOf(path); simulations[folder] == "" && folder != unfound {
			t.Errorf("%s: there is no simulation %q", path, folder)
		}
		if _, err := applyPatch(path); err != nil {
			t.Error(err)
		}
	}
}

func folderOf(path string) string { return filepath.Base(filepath.Dir(path)) }

func bugs(t *testing.T) []string {
	t.Helper()
	patches, err := filepath.Glob("testdata/bugs/*/*.patch")
	if err != nil {
		t.Fatal(err)
	}
	return patches
}

// applyPatch returns the files that the unified diff at path changes, as it
// leaves them. A piece is found by its lines, which must stand in the file once;
// the numbers in the diff are not looked at, and so may grow old.
func applyPatch(path string) (files map[string]string, err error) {
	diff, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files = map[string]string{}
	var file string
	var before, after strings.Builder
	flush := func() error {
		if before.Len() == 0 {
			return nil
		}
		if n := strings.Count(files[file], before.String()); n != 1 {
			return fmt.Errorf("%s: a piece stands %d times in %s, not once", path, n, file)
		}
		files[file] = strings.Replace(files[file], before.String(), after.String(), 1)
		before.Reset()
		after.Reset()
		return nil
	}
	for line := range strings.Lines(string(diff)) {
		switch {
		case strings.HasPrefix(line, "--- "):
		case strings.HasPrefix(line, "+++ b/"), strings.HasPrefix(line, "@@ "):
			if err := flush(); err != nil {
				return nil, err
			}
			if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
				file = strings.TrimSpace(name)
				text, err := os.ReadFile(filepath.Join(root, file))
				if err != nil {
					return nil, err
				}
				files[file] = string(text)
			}
		case line[0] == '-':
			before.WriteString(line[1:])
		case line[0] == '+':
			after.WriteString(line[1:])
		default:
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		}
	}
	return files, flush()
}

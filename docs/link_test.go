package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#:\s]+\.[a-z]+)\)`)

// Every page that a page links to exists. The map links to every page of this
// folder, the README to the map, and the index of the decision records to every
// record.
func TestLinks(t *testing.T) {
	for pattern, index := range map[string]struct{ page, prefix string }{
		"*.md":                {"map.md", ""},
		"decisions/[0-9]*.md": {"decisions/README.md", ""},
		"decisions/README.md": {"map.md", "decisions/"},
		"map.md":              {"../README.md", "docs/"},
		"../*.md":             {},
	} {
		pages, err := filepath.Glob(pattern)
		if err != nil || len(pages) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(pages), err)
		}
		for _, path := range pages {
			for _, m := range link.FindAllStringSubmatch(read(t, path), -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			if index.page != "" && !strings.Contains(read(t, index.page), "]("+index.prefix+filepath.Base(path)+")") {
				t.Errorf("%s does not link to %s", index.page, path)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#:\s]+\.[a-z]+)\)`)

// Every page that a paper points to is there, and the README points to every
// paper.
func TestLinks(t *testing.T) {
	papers, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(papers, "../README.md") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(raw), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		if path != "../README.md" && !strings.Contains(string(readme), "](docs/"+path+")") {
			t.Errorf("the README does not point to %s", path)
		}
	}
}

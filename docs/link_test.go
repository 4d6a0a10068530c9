package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]+))?\)`)

// Every page that a page links to exists, and has the heading of the link. The map links to every page of this
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
				target := path
				if m[1] != "" {
					target = filepath.Join(filepath.Dir(path), m[1])
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: %v", path, err)
				} else if m[2] != "" && !slices.Contains(anchors(read(t, target)), m[2]) {
					t.Errorf("%s: %s has no heading %q", path, target, m[2])
				}
			}
			if index.page != "" && !strings.Contains(read(t, index.page), "]("+index.prefix+filepath.Base(path)+")") {
				t.Errorf("%s does not link to %s", index.page, path)
			}
		}
	}
}

var (
	heading     = regexp.MustCompile(`(?m)^#+ (.+)$`)
	punctuation = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors returns what links to the headings of a page end in.
func anchors(page string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(strings.ToLower(punctuation.ReplaceAllString(m[1], "")), " ", "-"))
	}
	return all
}

var (
	namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// The tests that a page names exist.
func TestNamedTestsExist(t *testing.T) {
	exists := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range testFunc.FindAllStringSubmatch(read(t, path), -1) {
			exists[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		for _, m := range namedTest.FindAllStringSubmatch(read(t, page), -1) {
			if !exists[m[1]] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
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

package web_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"deed.example/deed/docs"
)

// Headings skip no level: who listens to a page finds its parts by them.
func TestHeadingsOfTheDocs(t *testing.T) {
	s := open(t, nil)
	sources, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(sources, "", "api") {
		level := 0
		for _, m := range regexp.MustCompile(`<h([1-6])[^>]*>([^<]*)`).FindAllStringSubmatch(body(t, get(t, s, "/docs/"+strings.TrimSuffix(path, ".md"))), -1) {
			next := int(m[1][0] - '0')
			if next > level+1 {
				t.Errorf("%s: %q is a heading of level %d below one of level %d", path, m[2], next, level)
			}
			level = next
		}
	}
}

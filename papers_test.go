package deed_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	writtenAs = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(t \*testing\.T\)`)
)

// Every test that docs/testing.md names is there.
func TestPapersNameTestsThatExist(t *testing.T) {
	paper, err := os.ReadFile("docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range writtenAs.FindAllStringSubmatch(string(source), -1) {
			written[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := namedTest.FindAllStringSubmatch(string(paper), -1)
	if len(named) < 40 {
		t.Errorf("the paper names %d tests", len(named))
	}
	for _, m := range named {
		if !written[m[1]] {
			t.Errorf("docs/testing.md names %s, which is not there", m[1])
		}
	}
}

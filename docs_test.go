package deed_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	writtenAs = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(t \*testing\.T\)`)
)

// Every test that a page of the docs names exists.
func TestDocsNameTestsThatExist(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	written, count := writtenTests(t), 0
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedTest.FindAllStringSubmatch(string(page), -1) {
			count++
			if !written[m[1]] {
				t.Errorf("%s names %s, which does not exist", path, m[1])
			}
		}
	}
	if count < 40 {
		t.Errorf("the pages name %d tests", count)
	}
}

// writtenTests returns the names of all tests in the tree.
func writtenTests(t *testing.T) map[string]bool {
	t.Helper()
	written := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
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
	return written
}

var (
	wordOfEvent  = regexp.MustCompile(`(?m)^\tEvent\w+ +EventType = "(\w+)"`)
	wordOfStatus = regexp.MustCompile(`(?m)^\tStatus\w+ +Status = "(\w+)"`)
)

// docs/dns.md has every supported record type.
func TestDNSPageIsComplete(t *testing.T) {
	raw, err := os.ReadFile("docs/dns.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	_, err = dnszone.RecordInput{Type: "NONE", Host: "@", Value: "x"}.Record("example.com")
	if err == nil {
		t.Fatal("NONE is no type")
	}
	_, types, _ := strings.Cut(err.Error(), "is not one of ")
	for kind := range strings.SplitSeq(types, ", ") {
		if !regexp.MustCompile(`(?m)^\| ([A-Z]+, )*` + kind + `(, [A-Z]+)* \|`).MatchString(page) {
			t.Errorf("docs/dns.md has no row for %s", kind)
		}
	}
}

// docs/names.md explains every event and every status of a name, and has the
// correct days of the phases.
func TestNamesPageIsComplete(t *testing.T) {
	page, err := os.ReadFile("docs/names.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for file, pattern := range map[string]*regexp.Regexp{"internal/lifecycle/event.go": wordOfEvent, "internal/lifecycle/registration.go": wordOfStatus} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pattern.FindAllStringSubmatch(string(source), -1) {
			words++
			if !strings.Contains(string(page), "`"+m[1]+"`") {
				t.Errorf("docs/names.md does not explain %s", m[1])
			}
		}
	}
	days := regexp.MustCompile(`(?s)"redemption\\n(\d+) days.*"pending delete\\n(\d+) days`).FindStringSubmatch(string(page))
	if words < 20 || len(days) != 3 || days[1] != strconv.Itoa(lifecycle.RedemptionDays) || days[2] != strconv.Itoa(lifecycle.PendingDeleteDays) {
		t.Errorf("%d words, and the days of the phases are %q", words, days)
	}
}

package main

import (
	"slices"
	"strings"
	"testing"
)

// The markups of TLDs are printed in the same order each time.
func TestConfigCheckIsSorted(t *testing.T) {
	tlds := []string{"ai", "app", "com", "dev", "io", "net", "org", "xyz"}
	file := ""
	for _, tld := range slices.Backward(tlds) {
		file += "[catalog.tld." + tld + "]\nmarkup = \"1%\"\n"
	}
	_, out, err := read(t, file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, tld := range tlds {
		next := strings.Index(out, "catalog.tld."+tld+" ")
		if next <= at {
			t.Fatalf("%s is not in its place: %s", tld, out)
		}
		at = next
	}
}

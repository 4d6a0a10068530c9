package e2e_test

import (
	"os"
	"strings"
	"testing"
)

// example returns the JSON example of a page, on one line.
func example(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	block, _, _ := strings.Cut(rest, "\n```")
	return strings.ReplaceAll(block, "\n  ", "")
}

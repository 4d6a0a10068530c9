package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/cli.md tells of every command.
func TestCommandsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return // the library adds them
		}
		for _, child := range cmd.Commands() {
			look(child)
		}
		if cmd.Runnable() && !cmd.Hidden && !strings.Contains(string(page), "`"+cmd.CommandPath()) {
			t.Errorf("docs/cli.md does not tell of %s", cmd.CommandPath())
		}
	}
	look(rootCommand())
}

// written finds the commands of a page: in its text, and on lines that are typed.
var written = regexp.MustCompile("(?m)(?:`|^\\$ )deed ([a-z][^`|>&;\n]*)")

// notCommands are first words that only look like those of commands: the mistake of a new
// user, and a label in the nonces of refunds.
var notCommands = []string{"lock", "refund"}

// Every command that a page names exists, and has the flags that it is written with.
func TestCommandsOfTheDocs(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	root := rootCommand()
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range written.FindAllStringSubmatch(string(page), -1) {
			if first, _, _ := strings.Cut(strings.TrimSpace(m[1]), " "); !slices.Contains(notCommands, first) {
				checkWritten(t, filepath.Base(path), root, m[1])
			}
		}
	}
}

// checkWritten checks a command without its first word.
func checkWritten(t *testing.T, page string, cmd *cobra.Command, text string) {
	t.Helper()
	words := strings.Fields(text)
	for len(words) > 0 && cmd.HasSubCommands() {
		child, _, err := cmd.Find(words[:1])
		if err != nil || child == cmd {
			t.Errorf("%s: %s has no command %s: deed %s", page, cmd.CommandPath(), words[0], text)
			return
		}
		cmd, words = child, words[1:]
	}
	for _, word := range words {
		name, isFlag := strings.CutPrefix(strings.TrimLeft(word, "["), "--")
		name = regexp.MustCompile(`^[a-z0-9-]*`).FindString(name)
		if isFlag && name != "" && cmd.Flag(name) == nil {
			t.Errorf("%s: %s has no flag --%s: deed %s", page, cmd.CommandPath(), name, text)
		}
	}
}

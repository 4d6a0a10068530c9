package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deed.example/deed/internal/cli"
)

// eachCommand calls f with every command that is not a group.
func eachCommand(f func(cmd *cobra.Command)) {
	root, admin := &cobra.Command{Use: "deed"}, &cobra.Command{Use: "admin"}
	admin.AddCommand(cli.AdminCommands()...)
	root.AddCommand(cli.Commands(nil, nil)...)
	root.AddCommand(admin)
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			look(child)
		}
		if cmd.Runnable() {
			f(cmd)
		}
	}
	look(root)
}

// Every command is run by a script, with each of its own flags; each global flag
// is used by some script.
func TestCommandsHaveScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %v, %v", paths, err)
	}
	var lines []string
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(raw), "\n")...)
	}
	runs := func(pattern string) bool {
		run := regexp.MustCompile(`^(exits|tty|exec) .*` + pattern + `\b`)
		for _, line := range lines {
			if run.MatchString(line) {
				return true
			}
		}
		return false
	}
	eachCommand(func(cmd *cobra.Command) {
		if !runs(`\b` + cmd.CommandPath()) {
			t.Errorf("no script runs %s", cmd.CommandPath())
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !runs(`\b` + cmd.CommandPath() + `\b.* --` + f.Name) {
				t.Errorf("no script runs %s with --%s", cmd.CommandPath(), f.Name)
			}
		})
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
			if !runs(`\bdeed .*--` + f.Name) {
				t.Errorf("no script uses --%s", f.Name)
			}
		})
	})
}

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/servicetest"
)

func paper(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// docs/cli.md tells of every command.
func TestCommandsAreDocumented(t *testing.T) {
	text := paper(t)
	root, admin := &cobra.Command{Use: "deed"}, &cobra.Command{Use: "admin"}
	admin.AddCommand(cli.AdminCommands()...)
	root.AddCommand(cli.Commands(nil, nil)...)
	root.AddCommand(admin)
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			look(child)
		}
		if cmd.Runnable() && !strings.Contains(text, "`"+cmd.CommandPath()) {
			t.Errorf("it does not tell of %s", cmd.CommandPath())
		}
	}
	look(root)
}

// The lines of docs/cli.md do what it says. What stands for [..] may be anything.
func TestDocumentedLines(t *testing.T) {
	_, rest, found := strings.Cut(paper(t), "```console\n")
	block, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("there are no lines to run")
	}
	fresh, err := servicetest.Start(t.TempDir()) // whose names nobody has
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fresh.Stop)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(block, "$ "), "\n$ ") {
		line, want, _ := strings.Cut(step, "\n")
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + filepath.Dir(fresh.Binary) + ":" + os.Getenv("PATH"), "XDG_CONFIG_HOME=" + dir, "DEED_SERVER=" + fresh.URL}
		out, err := cmd.Output()
		pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), `\[\.\.\]`, `.*`)
		if err != nil || !regexp.MustCompile("^"+pattern+"$").MatchString(strings.TrimSpace(string(out))) {
			t.Errorf("%s: got %s, %v, want %s", line, out, err, want)
		}
	}
}

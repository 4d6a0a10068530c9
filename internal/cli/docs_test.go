package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
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

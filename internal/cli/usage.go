package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// argumentError is the error of a command with the wrong arguments. It says what to
// write, and where the id of a record comes from.
func argumentError(cmd *cobra.Command, args []string, err error) error {
	text := err.Error()
	if slices.ContainsFunc([]string{"accepts ", "requires at least ", "unknown command "}, func(s string) bool { return strings.HasPrefix(text, s) }) { // the words of cobra
		text = fmt.Sprintf("%s got %s", cmd.CommandPath(), plural(len(args), "argument"))
	}
	text += "; write: " + cmd.CommandPath() + strings.TrimPrefix(cmd.Use, cmd.Name())
	if strings.HasSuffix(cmd.Use, "NAME ID") && cmd.HasParent() && cmd.Parent().Name() == "dns" {
		text += "; `deed dns ls NAME` lists the ids of the records"
	}
	return usageError{errors.New(text)}
}

// flagError is the error of a wrong flag, without the words of packages strconv and time.
// What follows that flag is not parsed, but the error is JSON all the same if that says so.
func flagError(cmd *cobra.Command, err error) error {
	if slices.Contains(os.Args, "--json") {
		_ = cmd.Flags().Set("json", "true") // it fails for a command that prints text only
	}
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok || !is[*strconv.NumError](err) && e.GetFlag().Value.Type() != "duration" {
		return usageError{err}
	}
	reason := "is not a number"
	switch {
	case e.GetFlag().Value.Type() == "duration":
		reason = "is not a time such as 90s or 5m"
	case errors.Is(err, strconv.ErrRange):
		reason = "is out of range"
	case e.GetFlag().Value.Type() == "bool":
		reason = "is neither true nor false"
	}
	return usagef("--%s: %q %s", e.GetFlag().Name, e.GetValue(), reason)
}

// refuseUnknownHelp makes `deed help` fail for a command that does not exist.
func refuseUnknownHelp(root *cobra.Command) {
	help := findCommand(root, "help")
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err != nil || len(rest) > 0 {
			return noSuchCommand(found, rest)
		}
		show(cmd, args)
		return nil
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// noSuchCommand is the RunE of a command that only has subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	near := cmd.SuggestionsFor(args[0])
	if len(near) == 0 {
		near = elsewhere(cmd.Root(), args[0])
	}
	if len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	} else {
		text += "; `" + cmd.CommandPath() + " --help` lists the commands"
	}
	return usageError{errors.New(text)}
}

// maxElsewhere is how many commands of other groups are suggested.
const maxElsewhere = 4

// elsewhere returns the commands of that name in any group but admin, so that
// whoever types `deed lock` finds `deed domain lock`.
func elsewhere(root *cobra.Command, name string) (found []string) {
	for _, group := range root.Commands() {
		if group.Name() == "admin" || group.Name() == "help" || group.Name() == "completion" {
			continue
		}
		for _, child := range group.Commands() {
			if child.Name() == name || slices.Contains(child.Aliases, name) {
				found = append(found, "`"+child.CommandPath()+"`")
			}
		}
	}
	return found[:min(len(found), maxElsewhere)]
}

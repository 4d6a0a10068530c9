package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// A Start runs a service on embedded parts in a folder until ctx ends. It calls
// ready once, with the service's address.
type Start func(ctx context.Context, dir string, ready func(base string)) error

// Commands returns the client commands. The demo uses start where no service
// runs, and an agent is served by speak.
func Commands(start Start, speak Speak) []*cobra.Command {
	all := []*cobra.Command{
		searchCommand(), checkCommand(), priceCommand(),
		registerCommand(), renewCommand(), transferCommand(), jobCommand(),
		domainCommand(), dnsCommand(), accountCommand(), transactionCommand(),
		walletCommand(), loginCommand(), logoutCommand(), whoamiCommand(), demoCommand(start), mcpCommand(speak),
	}
	for _, cmd := range all {
		addFlags(cmd)
	}
	return append(all, manCommand())
}

// AdminCommands returns the commands that play with a sandbox.
func AdminCommands() []*cobra.Command {
	all := []*cobra.Command{clockCommand(), faultsCommand()}
	for _, cmd := range all {
		addFlags(cmd)
	}
	return all
}

// Finish makes every mistake in using root or a command below it a usage error.
func Finish(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.InitDefaultCompletionCmd()
	finish(root)
}

func finish(cmd *cobra.Command) {
	if !cmd.Runnable() {
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, noSuchCommand
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{fmt.Errorf("%w; write: %s", err, cmd.UseLine())}
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		finish(child)
	}
}

// noSuchCommand runs a command that only has others below it.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	cmd.SuggestionsMinimumDistance = 2
	text := fmt.Sprintf("%s has no command %q", cmd.CommandPath(), args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usageError{errors.New(text)}
}

// command makes a command that runs with what its flags say.
func command(use, short string, args cobra.PositionalArgs, run func(s *session, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		s, err := newSession(cmd)
		if err != nil {
			return err
		}
		return run(s, args)
	}}
}

// group makes a command of commands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	cmd.AddCommand(commands...)
	return cmd
}

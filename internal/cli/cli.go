package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// A Start runs a sandbox service in a folder until ctx is done. It calls ready
// once, with the service's URL.
type Start func(ctx context.Context, dir string, ready func(base string)) error

// Commands returns the client commands. The demo uses start if no service is
// running; `deed mcp` uses speak.
func Commands(start Start, speak Speak) []*cobra.Command {
	all := []*cobra.Command{
		searchCommand(), checkCommand(), priceCommand(),
		registerCommand(), renewCommand(), mandatesCommand(), transferCommand(), jobCommand(),
		domainCommand(), dnsCommand(), accountCommand(), transactionCommand(), eventsCommand(), webhookCommand(), calendarCommand(), emailCommand(),
		walletCommand(), loginCommand(), logoutCommand(), whoamiCommand(), contextCommand(), doctorCommand(), sandboxCommand(), demoCommand(start), mcpCommand(speak),
	}
	for _, cmd := range all {
		addFlags(cmd)
	}
	return append(all, manCommand())
}

// AdminCommands returns the commands that control a sandbox.
func AdminCommands() []*cobra.Command {
	all := []*cobra.Command{clockCommand(), faultsCommand()}
	for _, cmd := range all {
		addFlags(cmd)
	}
	return all
}

// Finish adds help and completion to root and its subcommands, and makes wrong
// arguments usage errors.
func Finish(root *cobra.Command) {
	acceptFlagsFirst(root)
	root.SetFlagErrorFunc(flagError)
	root.InitDefaultHelpCmd()
	refuseUnknownHelp(root)
	root.InitDefaultCompletionCmd()
	addHelp(root)
	addCompletions(root)
	finish(root)
}

// acceptFlagsFirst makes `deed --json check` mean `deed check --json`. Without it, the
// library takes what follows a flag that root does not have for the value of this flag,
// as it is right for --server. So root has those without a value; they do nothing there.
func acceptFlagsFirst(root *cobra.Command) {
	for _, name := range []string{"json", "yes"} {
		root.Flags().Bool(name, false, "")
		_ = root.Flags().MarkHidden(name) // it is there
	}
}

func finish(cmd *cobra.Command) {
	if !cmd.Runnable() {
		cmd.Args, cmd.RunE = cobra.ArbitraryArgs, noSuchCommand
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return argumentError(cmd, args, err)
			}
			return nil
		}
	}
	for _, child := range cmd.Commands() {
		finish(child)
	}
}

// command returns a command that runs with a session made from its flags.
func command(use, short string, args cobra.PositionalArgs, run func(s *session, args []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		s, err := newSession(cmd)
		if err != nil {
			return err
		}
		return run(s, args)
	}}
}

// group returns a command with subcommands.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	cmd.AddCommand(commands...)
	return cmd
}

package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// allowDashValue lets arguments after the first n begin with "-", as the tokens of
// ACME may, without a "--" before them. Flags may still be anywhere.
func allowDashValue(cmd *cobra.Command, n int) {
	run, check := cmd.RunE, cmd.Args
	cmd.DisableFlagParsing, cmd.Args = true, cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cmd.DisableFlagParsing = false
		defer func() { cmd.DisableFlagParsing = true }()
		if err := cmd.ParseFlags(flagsFirst(cmd, args, n)); err != nil {
			return flagError(cmd, err)
		}
		if help, err := cmd.Flags().GetBool("help"); err == nil && help {
			return cmd.Help()
		}
		args = cmd.Flags().Args()
		if err := check(cmd, args); err != nil {
			return argumentError(cmd, args, err)
		}
		return run(cmd, args)
	}
}

// flagsFirst returns the arguments with all flags first, then "--" and the others.
// After n of the others, only what is a flag of the command counts as one.
func flagsFirst(cmd *cobra.Command, args []string, n int) []string {
	var flags, others []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			others = append(others, args[i+1:]...)
			break
		}
		known, takesValue := flagNamed(cmd, arg)
		switch {
		case len(arg) < 2 || arg[0] != '-' || len(others) >= n && !known:
			others = append(others, arg)
		case takesValue && i+1 < len(args):
			flags = append(flags, arg, args[i+1])
			i++
		default:
			flags = append(flags, arg)
		}
	}
	return append(append(flags, "--"), others...)
}

// flagNamed reports whether the argument is a flag of the command, and whether the
// next argument is its value.
func flagNamed(cmd *cobra.Command, arg string) (known, takesValue bool) {
	name, long := strings.CutPrefix(arg, "--")
	if !long {
		short, ok := strings.CutPrefix(arg, "-")
		if !ok || len(short) != 1 {
			return false, false
		}
		f := cmd.Flags().ShorthandLookup(short)
		return f != nil, f != nil && f.NoOptDefVal == ""
	}
	name, _, given := strings.Cut(name, "=")
	f := cmd.Flag(name)
	return f != nil, f != nil && !given && f.NoOptDefVal == ""
}

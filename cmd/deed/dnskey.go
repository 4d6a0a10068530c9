package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/lifecycle"
)

// keyCommand replaces the keys of zones.
func keyCommand() *cobra.Command {
	group := &cobra.Command{Use: "dnskey", Short: "Replace the DNSSEC keys of zones"}
	var all bool
	roll := &cobra.Command{
		Use:   "roll [NAME]",
		Short: "Replace the key of a zone, or of all, in steps that wait for the caches of resolvers",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return cli.Usage(errors.New("name one zone, or say --all"))
			}
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			var only deed.Name
			if !all {
				if only, err = deed.ParseName(args[0]); err != nil {
					return cli.Usage(plain(err))
				}
			}
			return rollKeys(cmd.Context(), c, only, cmd.OutOrStdout())
		},
	}
	addHiddenFlags(roll)
	roll.Flags().BoolVar(&all, "all", false, "replace the keys of all zones, for example because dns.key was leaked")
	group.AddCommand(roll, adminTask("ls", "Count the keys that are being replaced, by step; changes nothing", countKeyRolls))
	return group
}

func rollKeys(ctx context.Context, c *config, only deed.Name, out io.Writer) error {
	zones, err := app.RollKeys(ctx, c.Config, only)
	if err != nil {
		return err
	}
	if only != "" && zones == 0 {
		return fmt.Errorf("%s is not signed here, or its key is being replaced already: see deed admin dnskey ls", only)
	}
	_, err = fmt.Fprintf(out, "the keys of %d zones are replaced while the service runs: deed admin dnskey ls shows how far it is\n", zones)
	return err
}

func countKeyRolls(ctx context.Context, c *config, out io.Writer) error {
	counts, err := app.KeyRolls(ctx, c.Config)
	if err != nil {
		return err
	}
	for _, step := range []lifecycle.KeyRollStep{lifecycle.KeyRequested, lifecycle.KeyIntroducing, lifecycle.KeyReplacing} {
		if _, err := fmt.Fprintf(out, "%s %d\n", step, counts[step]); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
)

// registrarCommand lists and checks the configured registrars.
func registrarCommand() *cobra.Command {
	group := &cobra.Command{Use: "registrar", Short: "List and check the registrars that names are bought from"}
	check := &cobra.Command{
		Use:   "check [NAME]",
		Short: "Log in to a registrar, or to all, and read its balance and prices; nothing is bought",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return checkRegistrars(cmd.Context(), c, strings.Join(args, ""), cmd.OutOrStdout())
		},
	}
	addHiddenFlags(check)
	group.AddCommand(adminTask("ls", "List the configured registrars", listRegistrars), check)
	return group
}

func listRegistrars(_ context.Context, c *config, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tTYPE\tTLDS")
	for _, r := range c.EffectiveRegistrars() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.Name, r.Type, strings.Join(r.TLDs, " "))
	}
	return table.Flush()
}

// errRegistrarDown makes a check fail, after the report has said why.
var errRegistrarDown = errors.New("a registrar does not respond")

func checkRegistrars(ctx context.Context, c *config, name string, out io.Writer) error {
	reports, err := app.CheckRegistrars(ctx, c.Config, name)
	if err != nil {
		return err
	}
	var down error
	for _, r := range reports {
		state := "responds"
		if r.Down != nil {
			state, down = "DOES NOT RESPOND: "+cli.Clean(r.Down.Error()), errRegistrarDown
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "registrar\t%s (%s)\nstate\t%s\nsells\t%s\nbalance\t%s\nprices\t%s\ncan\t%s\n",
			r.Name, r.Type, state, strings.Join(r.TLDs, " "), r.Balance, cmp.Or(strings.Join(r.Prices, ", "), "-"), cmp.Or(strings.Join(r.Capabilities, ", "), "-"))
		for _, w := range r.Warnings {
			fmt.Fprintf(table, "warning\t%s\n", cli.Clean(w))
		}
		err = errors.Join(err, table.Flush())
	}
	return errors.Join(err, down)
}

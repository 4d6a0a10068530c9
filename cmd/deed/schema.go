package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
)

// schemaCommand says what a way back to an older release would cost.
func schemaCommand() *cobra.Command {
	var since int64
	cmd := adminTask("schema", "Show the version of the schema, and what an older release would lose; changes nothing", func(ctx context.Context, c *config, out io.Writer) error {
		return printSchema(ctx, c, since, out)
	})
	cmd.Flags().Int64Var(&since, "since", 0, "version that the older release knows; its refusal to start says it")
	return cmd
}

func printSchema(ctx context.Context, c *config, since int64, out io.Writer) error {
	version, added, err := app.Schema(ctx, c.Config, max(since, 0))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "the schema is at version %d\n", version)
	if since <= 0 {
		fmt.Fprintln(out, "add --since VERSION to see what a release that knows only that version would lose")
		return nil
	}
	if len(added) == 0 {
		fmt.Fprintf(out, "a release that knows version %d loses nothing\n", since)
		return nil
	}
	fmt.Fprintf(out, "a release that knows version %d does not start on this database; with a backup of that version you lose what came later, and:\n", since)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SINCE\tADDED\tROWS")
	for _, a := range added {
		what := a.Table
		if a.Column != "" {
			what += "." + a.Column
		}
		fmt.Fprintf(table, "%d\t%s\t%d\n", a.Version, what, a.Rows)
	}
	return table.Flush()
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
)

func backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the SQLite database of a service, which may run, to a new file",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return backUp(cmd.Context(), c, args[0], cmd.OutOrStdout())
		},
	}
	addHiddenFlags(cmd)
	return cmd
}

func backUp(ctx context.Context, c *config, path string, out io.Writer) error {
	if err := app.BackUp(ctx, c.Config, path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s holds the database, %d bytes; the keys are not in it\n", path, info.Size())
	return err
}

// republish gives every zone a new serial, after a restore.
func republish(ctx context.Context, c *config, out io.Writer) error {
	zones, err := app.Republish(ctx, c.Config)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d zones get a new serial as soon as the service runs\n", zones)
	return err
}

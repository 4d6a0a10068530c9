package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/sqldb"
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
	addFlags(cmd)
	return cmd
}

func backUp(ctx context.Context, c *config, path string, out io.Writer) (err error) {
	db, err := openToRead(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.BackUp(ctx, path); err != nil {
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
func republish(ctx context.Context, c *config, out io.Writer) (err error) {
	db, err := openDatabase(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	clock := sqldb.NewClock(db, time.Now)
	if err := clock.Sync(ctx); err != nil {
		return err
	}
	zones, err := sqldb.Zones{DB: db, Now: clock.Now}.Republish(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d zones get a new serial as soon as the service runs\n", zones)
	return err
}

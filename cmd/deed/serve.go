package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			c.Log = newLogger(c, cmd.ErrOrStderr())
			if err := forbidCoreDumps(); err != nil {
				return err
			}
			slog.SetDefault(c.Log) // for libraries; our code gets its logger explicitly
			return serve(cmd.Context(), c, func(a *app.App) { welcome(cmd.OutOrStdout(), c, a) })
		},
	}
	addFlags(cmd)
	return cmd
}

// serve runs the service until ctx is done. It calls started when the listeners are open.
func serve(ctx context.Context, c *config, started func(a *app.App)) (err error) {
	a, err := app.Open(ctx, c.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Start(ctx); err != nil {
		return err
	}
	started(a)
	debug.FreeOSMemory() // starting needs twice as much as waiting for callers
	return a.Serve(ctx)
}

package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
)

func adminCommand() *cobra.Command {
	admin := &cobra.Command{Use: "admin", Short: "Maintain a service"}
	admin.AddCommand(
		auditCommand(),
		restoreCommand(),
		refundCommand(),
		registrarCommand(),
		adminTask("export", "Write every name we hold as CSV, with a count and a SHA-256 at its end; changes nothing", export),
		reconcileCommand(),
		adminTask("republish", "Give every zone a new serial, after a restore of the database or a change of dns.nameservers or redirect.addresses", republish),
		backupCommand(),
		schemaCommand(),
		keyCommand(),
	)
	admin.AddCommand(operatorCommands()...)
	admin.AddCommand(cli.AdminCommands()...)
	return admin
}

// adminTask returns a command that works on the database of a service.
func adminTask(use, short string, run func(ctx context.Context, c *config, out io.Writer) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return run(cmd.Context(), c, cmd.OutOrStdout())
		},
	}
	addHiddenFlags(cmd)
	return cmd
}

// withServices calls f with the services of the configuration, without their HTTP
// interface. Their database must be there: with the wrong configuration a new one would
// be made, and there would be nothing to do in it.
func withServices(ctx context.Context, c *config, f func(a *app.App) error) (err error) {
	if err := c.FindDatabase(ctx); err != nil {
		return err
	}
	conf := c.Config
	// A node may run beside the command, and has the ports.
	conf.Listen, conf.DNSListen, conf.PrimaryListen, conf.RedirectListen, conf.RedirectTLSListen = "off", "off", "off", "off", "off"
	a, err := app.Open(ctx, conf)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return f(a)
}

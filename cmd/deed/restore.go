package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/registration"
)

// restoreCommand is for a database that was restored from a backup.
func restoreCommand() *cobra.Command {
	restore := &cobra.Command{Use: "restore", Short: "Finish the restore of a backup"}
	dryRun := false
	finish := adminTask("finish", "Record or refund payments made after the backup",
		func(ctx context.Context, c *config, out io.Writer) error { return finishRestore(ctx, c, dryRun, out) })
	finish.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	restore.AddCommand(finish)
	return restore
}

// errUndecided is returned when payments are left to the operator.
var errUndecided = errors.New("some payments are undecided: find out what each of them bought; those that bought nothing are refunded with deed admin refund ID")

// finishRestore prints what is decided on the payments that the backup lacks, and fails
// if some are left to the operator.
func finishRestore(ctx context.Context, c *config, dryRun bool, out io.Writer) error {
	return withServices(ctx, c, func(a *app.App) error {
		all, err := a.FinishRestore(ctx, dryRun)
		undecided, printErr := printRecovered(all, out)
		if err = errors.Join(err, printErr); err != nil {
			return err
		}
		fmt.Fprintf(out, "%d payments decided on; a service that runs does the rest\n", len(all)-undecided)
		if undecided > 0 {
			return errUndecided
		}
		return nil
	})
}

// printRecovered prints the decision on each payment, and returns how many are
// undecided.
func printRecovered(all []registration.Recovered, out io.Writer) (undecided int, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range all {
		what := "is refunded"
		switch {
		case r.Undecided != "":
			what = "UNDECIDED: " + r.Undecided
			undecided++
		case r.Cancelled > 0:
			what = fmt.Sprintf("paid for a registration that was cancelled, for which %s USDC were refunded: is recorded", r.Cancelled)
		case r.Order.Name != "":
			what = fmt.Sprintf("paid to %s %s: is recorded again", r.Order.Kind, r.Order.Name)
		}
		fmt.Fprintf(table, "%s\t%s USDC\t%s\t%s\n", r.Payment.PublicID, r.Payment.Auth.Amount, r.Payment.Auth.Payer, what)
	}
	return undecided, table.Flush()
}

// refundCommand refunds one order, or the dust of a wallet, which is not refunded
// automatically. A running node does it.
func refundCommand() *cobra.Command {
	dust := ""
	cmd := &cobra.Command{
		Use:   "refund [ID]",
		Short: "Refund an order that was not placed yet, or dust: money below payments.dust_usd that came without a request",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && dust != "":
				return cli.Usage(errors.New("an order ID and --dust cannot be used together"))
			case len(args) == 1:
				return act(cmd, "refund", args)
			case dust != "":
				return act(cmd, "refund-dust", []string{dust})
			}
			return cli.Usage(errors.New("an order ID or --dust WALLET is required"))
		},
	}
	addHiddenFlags(cmd)
	addActFlags(cmd)
	cmd.Flags().StringVar(&dust, "dust", "", "wallet whose dust is refunded")
	cmd.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	return cmd
}

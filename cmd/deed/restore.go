package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/registration"
)

// restoreCommand is for a database that was restored from a backup.
func restoreCommand() *cobra.Command {
	restore := &cobra.Command{Use: "restore", Short: "Finish the restore of a backup"}
	dryRun := false
	finish := adminTask("finish", "Decide on money that came after the backup was made: what bought a name is put back into the books, the rest goes back",
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
		what := "goes back to its payer"
		switch {
		case r.Undecided != "":
			what = "UNDECIDED: " + r.Undecided
			undecided++
		case r.Order.Name != "":
			what = fmt.Sprintf("paid to %s %s: put back into the books", r.Order.Kind, r.Order.Name)
		}
		fmt.Fprintf(table, "%s\t%s USDC\t%s\t%s\n", r.Payment.PublicID, r.Payment.Auth.Amount, r.Payment.Auth.Payer, what)
	}
	return undecided, table.Flush()
}

// refundCommand refunds one order through a running node, or the dust of a wallet,
// which is not refunded automatically.
func refundCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "refund [ID]",
		Short: "Refund an order that was not placed yet, or dust: money below payments.dust_usd that came without a request",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return act(cmd, "refund", args)
			}
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			wallet, err := cmd.Flags().GetString("dust")
			if err != nil {
				return err
			}
			dryRun, err := cmd.Flags().GetBool("dry-run")
			if err != nil {
				return err
			}
			return refundDust(cmd.Context(), c, wallet, dryRun, cmd.OutOrStdout())
		},
	}
	addFlags(cmd)
	addActFlags(cmd)
	cmd.Flags().String("dust", "", "wallet whose dust goes back")
	cmd.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	return cmd
}

// refundDust has a wallet's dust sent back.
func refundDust(ctx context.Context, c *config, wallet string, dryRun bool, out io.Writer) error {
	if wallet == "" {
		return errors.New("name the order, or the wallet: --dust 0x…")
	}
	who, err := deed.ParseWallet(wallet)
	if err != nil {
		return err
	}
	return withServices(ctx, c, func(a *app.App) error {
		dust, err := a.RefundDust(ctx, who, dryRun)
		if err != nil {
			return err
		}
		sum := deed.USDC(0)
		for _, p := range dust {
			sum += p.Auth.Amount
		}
		_, err = fmt.Fprintf(out, "%d payments of %s USDC in all go back to %s; a service that runs sends them\n", len(dust), sum, who)
		return err
	})
}

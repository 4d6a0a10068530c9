package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
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

// finishRestore reads the chain to its end, to find all payments that the backup
// lacks, and decides on them. With dryRun it only reads, which the service does
// anyway.
func finishRestore(ctx context.Context, c *config, dryRun bool, out io.Writer) (err error) {
	b, err := openBackends(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if b.money == nil {
		return errors.New("this configuration takes no payments: there is no money to decide on")
	}
	if err := checkRestored(ctx, b, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	b.money.payments.Restoring = true
	if err := readChain(ctx, b.money.payments); err != nil {
		return err
	}
	restore := &registration.Restore{
		Payments: b.rows(), Jobs: sqldb.Jobs{DB: b.db, Now: b.clock.Now, Zones: b.dns.zones}, Chain: b.money.settler, Now: b.clock.Now,
		Orders: b.registrar, Lookup: b.registrar, Servers: c.Nameservers,
	}
	all, err := restore.Finish(ctx, dryRun)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range all {
		what := "goes back to its payer"
		if r.Order.Name != "" {
			what = fmt.Sprintf("paid to %s %s: put back into the books", r.Order.Kind, r.Order.Name)
		}
		fmt.Fprintf(table, "%s USDC\t%s\t%s\n", r.Payment.Auth.Amount, r.Payment.Auth.Payer, what)
	}
	err = errors.Join(err, table.Flush())
	if err == nil {
		fmt.Fprintf(out, "%d payments decided on; a service that runs does the rest\n", len(all))
	}
	return err
}

// checkRestored makes sure that nothing is delivered that was refunded after the
// backup of this database.
func checkRestored(ctx context.Context, b *backends, log *slog.Logger) error {
	if b.money == nil {
		return nil
	}
	found, err := b.money.payments.CheckRefunds(ctx, b.rows())
	if err != nil {
		return err
	}
	if found > 0 {
		log.Warn("this database is older than the chain: orders that were refunded since are not delivered", "orders", found)
	}
	return nil
}

// rows returns the payments of this configuration.
func (b *backends) rows() sqldb.Payments {
	t := b.money.payments.Terms
	return sqldb.Payments{DB: b.db, ChainID: t.ChainID, Asset: t.Asset, Now: b.clock.Now}
}

// refundCommand refunds what is not refunded automatically.
func refundCommand() *cobra.Command {
	wallet, dryRun := "", false
	cmd := adminTask("refund", "Have dust sent back: money below payments.dust_usd that came without a request",
		func(ctx context.Context, c *config, out io.Writer) error {
			return refundDust(ctx, c, wallet, dryRun, out)
		})
	cmd.Flags().StringVar(&wallet, "dust", "", "wallet whose dust goes back")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be done, and do nothing")
	return cmd
}

// refundDust marks a wallet's dust as due for refund. The service then sends it, in
// one transaction.
func refundDust(ctx context.Context, c *config, wallet string, dryRun bool, out io.Writer) (err error) {
	if wallet == "" {
		return errors.New("name the wallet: --dust 0x…")
	}
	who, err := deed.ParseWallet(wallet)
	if err != nil {
		return err
	}
	b, err := openBackends(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if b.money == nil {
		return errors.New("this configuration takes no payments: there is no dust")
	}
	dust, err := b.rows().Dust(ctx, who)
	if err != nil {
		return err
	}
	sum := deed.USDC(0)
	for _, p := range dust {
		sum += p.Auth.Amount
		if dryRun {
			continue
		}
		if _, err := b.rows().MovePayment(ctx, p, order.PaymentRefundDue, ""); err != nil {
			return fmt.Errorf("owe %s back: %w", p.ID, err)
		}
	}
	_, err = fmt.Fprintf(out, "%d payments of %s USDC in all go back to %s; a service that runs sends them\n", len(dust), sum, who)
	return err
}

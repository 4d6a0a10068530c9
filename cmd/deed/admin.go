package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
)

func adminCommand() *cobra.Command {
	admin := &cobra.Command{Use: "admin", Short: "Look after a service"}
	admin.AddCommand(
		auditCommand(),
		restoreCommand(),
		refundCommand(),
		adminTask("export", "Write every name we hold as CSV, with a count and a SHA-256 at its end; changes nothing", export),
		adminTask("reconcile", "Compare every name we hold with the registry, and fail when they differ; changes nothing", reconcile),
		adminTask("republish", "Give every zone a new serial, after the database came from a backup", republish),
		backupCommand(),
	)
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
	addFlags(cmd)
	return cmd
}

// errUnsound is returned by an audit with findings.
var errUnsound = errors.New("the audit found something: do not sell anything before it is understood")

// audit checks every invariant of the database, then compares the books with the
// chain.
func audit(ctx context.Context, c *config, out io.Writer) (err error) {
	db, err := openToRead(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	books := sqldb.Audit{DB: db}
	findings, err := books.Run(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	broken := 0
	for _, f := range findings {
		verdict := "ok"
		if f.Broken > 0 {
			verdict = fmt.Sprintf("BROKEN × %d", f.Broken)
			broken++
		}
		fmt.Fprintf(table, "%s\t%s\n", verdict, f.Invariant)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	sound, err := auditChain(ctx, c, db, books, out)
	if err != nil {
		return err
	}
	if err := printNotices(ctx, books, out); err != nil {
		return err
	}
	open, err := books.Open(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d invariants, %d broken; %d payments and jobs are open\n", len(findings), broken, open)
	if broken > 0 || !sound {
		return errUnsound
	}
	return nil
}

// auditChain compares the books with the chain, if it is available.
func auditChain(ctx context.Context, c *config, db *sqldb.DB, books sqldb.Audit, out io.Writer) (sound bool, err error) {
	m, err := openMoneyToRead(ctx, c, db)
	if err != nil || m == nil {
		fmt.Fprintf(out, "skipped  the chain could not be asked: %v\n", err)
		return true, nil
	}
	from := readCheckpoint(c)
	cmp, err := m.payments.Compare(ctx, books, m.settler, from)
	if err != nil {
		return false, err
	}
	if cmp.From > 0 {
		fmt.Fprintf(out, "from block %d on; with --full from the first\n", cmp.From)
	}
	for _, line := range cmp.Unread {
		fmt.Fprintln(out, "could not be read: "+line)
	}
	fmt.Fprintf(out, "%d transfers of %s USDC in all on the chain, %d not in the books, %d in the books only\n", cmp.Transfers, cmp.Sum, len(cmp.Unbooked), len(cmp.Unproved))
	fmt.Fprintf(out, "%d refunds of %s USDC in all on the chain, %d not in the books, %d in the books only\n", cmp.Payouts, cmp.Returned, len(cmp.Unowed), len(cmp.Unpaid))
	for _, line := range cmp.Differences() {
		fmt.Fprintln(out, "  "+line)
	}
	if !cmp.Sound() {
		return false, nil
	}
	return true, writeCheckpoint(c, cmp.Next)
}

func openToRead(ctx context.Context, c *config) (*sqldb.DB, error) {
	if c.DatabaseURL != "" {
		return sqldb.OpenPostgresReadOnly(ctx, c.DatabaseURL.Reveal())
	}
	if _, err := os.Stat(databaseFile(c)); err != nil {
		return nil, err
	}
	return sqldb.OpenSQLiteReadOnly(databaseFile(c))
}

// openMoneyToRead opens the settlement of a running service, with the sandbox's
// keys if it is a sandbox.
func openMoneyToRead(ctx context.Context, c *config, db *sqldb.DB) (*money, error) {
	conf := *c
	rpc := c.ChainRPCURL.Reveal()
	if rpc == "" {
		rpc = "http://" + c.ChainListen
		treasury, err := file.Open(filepath.Join(chainFolder(c), "treasury.key"))
		if err != nil {
			return nil, err
		}
		conf.GasKey, conf.RefundKey = filepath.Join(chainFolder(c), "gas.key"), filepath.Join(chainFolder(c), "refund.key")
		if conf.PayTo == "" {
			conf.PayTo = string(treasury.Address())
		}
	}
	return openMoney(ctx, &conf, db, &chainBackend{Client: chain.Dial(rpc)}, time.Now)
}

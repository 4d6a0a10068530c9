package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/sqldb"
)

// auditCommand checks the books.
func auditCommand() *cobra.Command {
	full := false
	cmd := adminTask("audit", "Check that every dollar is accounted for, in the database and on the chain; changes nothing",
		func(ctx context.Context, c *config, out io.Writer) error { return audit(ctx, c, full, out) })
	cmd.Flags().BoolVar(&full, "full", false, "check the whole database and read the chain from the first block on, not from where the last audit ended")
	return cmd
}

// errUnsound is returned by an audit with findings.
var errUnsound = errors.New("the audit found something: do not sell anything before it is understood")

// errIncomplete is returned by an audit that could not read every block.
var errIncomplete = errors.New("some blocks could not be read and were not compared: try another endpoint of the chain")

// audit prints what an audit finds, and fails if something is wrong.
func audit(ctx context.Context, c *config, full bool, out io.Writer) error {
	r, auditErr := app.Audit(ctx, c.Config, full)
	broken, err := printFindings(r.Findings, out)
	if err != nil {
		return err
	}
	if !r.Since.IsZero() {
		fmt.Fprintf(out, "of what changed since %s; with --full of everything\n", r.Since.UTC().Format(time.RFC3339))
	}
	if r.Chain != nil {
		printComparison(*r.Chain, out)
	}
	if auditErr != nil {
		return auditErr
	}
	if r.Chain == nil && r.ChainErr == nil {
		fmt.Fprintln(out, "no payments are taken: there is nothing to compare with the chain")
	}
	printNotices(r.Notices, out)
	if r.NotKept != nil {
		fmt.Fprintf(out, "note     the next audit starts where this one did: %v\n", r.NotKept)
	}
	fmt.Fprintf(out, "\n%d invariants, %d broken; %d payments and jobs are open\n", len(r.Findings), broken, r.Open)
	return verdict(r, broken)
}

// verdict returns what an audit that came to its end fails with: findings, or what was
// not checked.
func verdict(r app.AuditReport, broken int) error {
	var errs []error
	if broken > 0 || r.Chain != nil && !r.Chain.Sound() {
		errs = append(errs, errUnsound)
	}
	if r.ChainErr != nil {
		errs = append(errs, fmt.Errorf("the books were not compared with the chain: %w", r.ChainErr))
	}
	if r.Chain != nil && !r.Chain.Complete() {
		errs = append(errs, errIncomplete)
	}
	return errors.Join(errs...)
}

// printFindings prints every invariant and returns how many are broken.
func printFindings(findings []sqldb.Finding, out io.Writer) (broken int, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		verdict := "ok"
		if f.Broken > 0 {
			verdict = fmt.Sprintf("BROKEN × %d", f.Broken)
			broken++
		}
		fmt.Fprintf(table, "%s\t%s\n", verdict, f.Invariant)
	}
	return broken, table.Flush()
}

// printComparison prints how the books and the chain compare.
func printComparison(cmp fulfil.Comparison, out io.Writer) {
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
}

// printNotices prints what is waiting, why, and for how long.
func printNotices(all []sqldb.Notice, out io.Writer) {
	for _, n := range all {
		fmt.Fprintf(out, "note     %d, %s USDC: %s, the oldest for %s", n.Count, n.Sum, n.About, time.Since(n.Since).Round(time.Second))
		if n.Why != "" {
			fmt.Fprintf(out, ": %s", cli.Clean(n.Why))
		}
		fmt.Fprintln(out)
	}
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
)

// exportColumns is the header of the export.
var exportColumns = []string{
	"domain", "unicode", "owner", "status", "created", "expires", "locked", "nameservers", "ds", "premium_renewal_usd", "reference", "payment_id", "tx_hash",
}

// export writes every registered name as CSV, for a successor of the operator. Its
// last line has their number and the SHA-256 of all lines before, so that a
// truncated export is detected.
func export(ctx context.Context, c *config, out io.Writer) error {
	sum := sha256.New()
	lines := csv.NewWriter(io.MultiWriter(out, sum))
	if err := lines.Write(exportColumns); err != nil {
		return err
	}
	count := 0
	err := app.ForEachName(ctx, c.Config, func(r lifecycle.Registration, txHash string) error {
		count++
		return lines.Write(exported(r, txHash))
	})
	if err != nil {
		return err
	}
	if lines.Flush(); lines.Error() != nil {
		return lines.Error()
	}
	_, err = fmt.Fprintf(out, "# count %d sha256 %x\n", count, sum.Sum(nil))
	return err
}

func exported(r lifecycle.Registration, txHash string) []string {
	keys := make([]string, len(r.DS))
	for i, ds := range r.DS {
		keys[i] = fmt.Sprintf("%d %d %d %s", ds.KeyTag, ds.Algorithm, ds.DigestType, ds.Digest)
	}
	premium, locked := "", "no"
	if r.PremiumRenewal > 0 {
		premium = r.PremiumRenewal.String()
	}
	if r.Locked {
		locked = "yes"
	}
	return []string{
		string(r.Name), r.Name.Unicode(), string(r.Owner), string(r.Status), r.Created.UTC().Format(time.RFC3339), r.Expires.UTC().Format(time.RFC3339),
		locked, strings.Join(r.Nameservers, " "), strings.Join(keys, "; "), premium, r.Reference, r.PaymentID, txHash,
	}
}

// errDiffers is returned by a reconciliation with differences.
var errDiffers = errors.New("we and the registry differ: the table says where")

// reconcileCommand compares every registered name with the registry, and changes
// nothing.
func reconcileCommand() *cobra.Command {
	var after string
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare every name we hold with the registry, and fail when they differ; changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return reconcile(cmd.Context(), c, deed.Name(after), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&after, "after", "", "continue after this name, which the progress of an earlier run showed")
	addFlags(cmd)
	return cmd
}

// progressInterval is how often a long comparison says how far it is.
const progressInterval = 10 * time.Second

func reconcile(ctx context.Context, c *config, after deed.Name, out, progress io.Writer) error {
	last, said := after, time.Now()
	found, err := app.Reconcile(ctx, c.Config, after, func(name deed.Name, done, total int) {
		if last = name; time.Since(said) >= progressInterval {
			said = time.Now()
			fmt.Fprintf(progress, "looked up %d of %d names, the last was %s\n", done, total, name)
		}
	})
	if err == nil || len(found.Differences) > 0 {
		if _, err := io.WriteString(out, table(found)); err != nil {
			return err
		}
	}
	if err != nil && last != "" {
		return fmt.Errorf("%w; to continue: --after %s", err, last)
	}
	if err != nil {
		return err
	}
	if len(found.Differences) > 0 {
		return errDiffers
	}
	return nil
}

func table(found registration.Reconciliation) string {
	var b bytes.Buffer
	if len(found.Differences) > 0 {
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "name\twhat\tours\tthe registry's")
		for _, d := range found.Differences {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, d.What, orDash(d.Stored), orDash(d.Registry))
		}
		_ = w.Flush() // a strings.Builder never fails
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d names in the database, %d at the registry, %d differences\n", found.Stored, found.Registry, len(found.Differences))
	if found.Ordered > 0 {
		fmt.Fprintf(&b, "%d more differ while an order for them is under way: look again when it is done\n", found.Ordered)
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

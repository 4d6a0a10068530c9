package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/lifecycle"
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

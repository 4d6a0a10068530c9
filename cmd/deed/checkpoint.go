package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/sqldb"
)

// auditCommand checks the books. The whole chain is read once; later audits
// continue after the last audit without findings.
func auditCommand() *cobra.Command {
	full := false
	cmd := adminTask("audit", "Check that every dollar is accounted for, in the database and on the chain; changes nothing",
		func(ctx context.Context, c *config, out io.Writer) error {
			if full {
				if err := os.Remove(checkpointFile(c)); err != nil && !os.IsNotExist(err) {
					return err
				}
			}
			return audit(ctx, c, out)
		})
	cmd.Flags().BoolVar(&full, "full", false, "read the chain from the first block on, and not from where the last audit ended")
	return cmd
}

// checkpointFile is where the last audit stored how far it came. It is a file and
// not a row, because an audit only reads the database.
func checkpointFile(c *config) string { return filepath.Join(c.Data, "audit.checkpoint") }

// A checkpoint is for one chain and one database: after a restore the audit starts
// from the first block.
type checkpoint struct {
	ChainID  uint64    `json:"chainId"`
	PayTo    string    `json:"payTo"`
	Database string    `json:"database"`
	Block    uint64    `json:"block"`
	At       time.Time `json:"at"`
}

func (c *config) checkpoint() checkpoint {
	return checkpoint{ChainID: c.ChainID, PayTo: c.PayTo, Database: databaseInWords(c)}
}

// readCheckpoint returns where to start: at the first block if the file is
// missing, unreadable or for another chain or database.
func readCheckpoint(c *config) fulfil.Checkpoint {
	raw, err := os.ReadFile(checkpointFile(c))
	if err != nil {
		return fulfil.Checkpoint{}
	}
	was, is := checkpoint{}, c.checkpoint()
	if json.Unmarshal(raw, &was) != nil {
		return fulfil.Checkpoint{}
	}
	is.Block, is.At = was.Block, was.At
	if is != was {
		return fulfil.Checkpoint{}
	}
	return fulfil.Checkpoint{Block: was.Block, At: was.At}
}

func writeCheckpoint(c *config, p fulfil.Checkpoint) error {
	point := c.checkpoint()
	point.Block, point.At = p.Block, p.At.UTC().Truncate(time.Second)
	raw, err := json.Marshal(point)
	if err != nil {
		return err
	}
	return os.WriteFile(checkpointFile(c), append(raw, '\n'), 0o600)
}

// printNotices prints what is waiting, why, and for how long.
func printNotices(ctx context.Context, books sqldb.Audit, out io.Writer) error {
	all, err := books.Notices(ctx)
	if err != nil {
		return err
	}
	for _, n := range all {
		fmt.Fprintf(out, "note     %d, %s USDC: %s, the oldest for %s", n.Count, n.Sum, n.About, time.Since(n.Since).Round(time.Second))
		if n.Why != "" {
			fmt.Fprintf(out, ": %s", n.Why)
		}
		fmt.Fprintln(out)
	}
	return nil
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func cancelCommand() *cobra.Command {
	var dryRun bool
	cmd := command("cancel NAME", "Cancel a registration in its first days, for a refund", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.Cancel(s.ctx, args[0], true)
		if err != nil {
			return err
		}
		if !dryRun && out.Status == "possible" {
			if err := s.confirm(fmt.Sprintf("Delete %s? %s USDC of %s go back to %s, and anyone can register the name then.", clean(out.Domain), out.RefundAmount, out.Price, clean(out.WalletAddress))); err != nil {
				return err
			}
			if out, err = c.Cancel(s.ctx, args[0], false); err != nil {
				return err
			}
		}
		l := list{rows: [][]string{
			{"name", out.Domain}, {"status", out.Status}, {"paid", out.Price + " USDC"}, {"kept by the registry", out.Kept + " USDC"},
			{"refund", out.RefundAmount + " USDC"}, {"to", out.WalletAddress},
		}}
		if out.Refund != nil {
			l.add("refund status", out.Refund.Status)
		}
		return s.show(out, l)
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would go back, and change nothing")
	return cmd
}

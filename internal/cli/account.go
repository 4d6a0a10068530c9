package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
)

func accountCommand() *cobra.Command {
	return command("account", "Show the account of the wallet", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		a, err := c.Account(s.ctx)
		if err != nil {
			return err
		}
		return s.show(a, list{rows: [][]string{
			{"wallet", a.WalletAddress}, {"since", day(a.CreatedAt)}, {"names", strconv.Itoa(a.ActiveDomains)}, {"expiring soon", strconv.Itoa(a.ExpiringSoon)},
			{"spent", a.TotalSpent + " USDC"}, {"refunded", a.Refunded + " USDC"},
		}})
	})
}

func transactionCommand() *cobra.Command {
	var limit int
	var ls *cobra.Command
	ls = command("ls", "List payments and refunds of the wallet, newest first", cobra.NoArgs, func(s *session, _ []string) error {
		if err := atLeastOne(ls, "limit", limit); err != nil {
			return err
		}
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out := api.Transactions{Transactions: []api.Transaction{}}
		l := list{heads: []string{"AT", "TYPE", "NAME", "USDC", "STATUS", "TRANSACTION"}, empty: "no payments yet"}
		for tx, err := range c.Transactions(s.ctx) {
			if err != nil {
				return err
			}
			out.Transactions = append(out.Transactions, tx)
			l.add(day(tx.CreatedAt), tx.Type, tx.Domain, tx.Price, tx.Status, hashOf(tx.TxHash))
			if len(out.Transactions) == limit {
				break
			}
		}
		out.Total, out.Limit = api.Count(len(out.Transactions)), len(out.Transactions)
		return s.show(out, l)
	})
	ls.Flags().IntVar(&limit, "limit", 0, "maximum number to list")
	return group("tx", "Payments and refunds", ls)
}

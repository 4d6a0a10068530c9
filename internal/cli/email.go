package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func emailCommand() *cobra.Command {
	return group("email", "Notices about your names by e-mail",
		ownerCommand("set ADDRESS", "Have a code sent to an address", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			is, err := c.SetEmail(s.ctx, args[0])
			if err == nil {
				fmt.Fprintln(s.errs, "note: a code is sent to the address; enter it with deed email confirm CODE")
			}
			return s.showEmail(is, err)
		}),
		ownerCommand("confirm CODE", "Confirm the address with the code that was sent to it", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			is, err := c.ConfirmEmail(s.ctx, args[0])
			return s.showEmail(is, err)
		}),
		ownerCommand("show", "Show the address and whether it is confirmed", cobra.NoArgs, func(s *session, c *client.Client, _ []string) error {
			is, err := c.Email(s.ctx)
			return s.showEmail(is, err)
		}),
		ownerCommand("rm", "End the notices", cobra.NoArgs, func(s *session, c *client.Client, _ []string) error {
			out, err := c.DeleteEmail(s.ctx)
			if err != nil {
				return err
			}
			return s.show(out, list{rows: [][]string{{"deleted"}}})
		}),
	)
}

func (s *session) showEmail(is api.Email, err error) error {
	if err != nil {
		return err
	}
	rows := [][]string{{"address", is.Address}, {"status", is.Status}}
	if is.Failure != "" {
		rows = append(rows, []string{"failure", is.Failure})
	}
	return s.show(is, list{rows: rows})
}

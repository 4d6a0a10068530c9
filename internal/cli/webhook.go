package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func webhookCommand() *cobra.Command {
	return group("webhook", "Have events sent to your server",
		ownerCommand("add URL", "Send future events to a URL, and print the secret that signs them", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			w, err := c.CreateWebhook(s.ctx, args[0])
			if err != nil {
				return err
			}
			return s.showSecret(w)
		}),
		ownerCommand("ls", "List the webhooks of the wallet", cobra.NoArgs, listWebhooks),
		ownerCommand("rm ID", "Delete a webhook", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			out, err := c.DeleteWebhook(s.ctx, args[0])
			if err != nil {
				return err
			}
			return s.show(out, list{rows: [][]string{{"deleted", args[0]}}})
		}),
		ownerCommand("rotate ID", "Give a webhook a new secret, and print it; the old one signs too for a day", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			w, err := c.RotateWebhook(s.ctx, args[0])
			if err != nil {
				return err
			}
			return s.showSecret(w)
		}),
		ownerCommand("test ID", "Send a test message; if it is delivered, a disabled webhook is active again", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			d, err := c.TestWebhook(s.ctx, args[0])
			if err != nil {
				return err
			}
			return s.showDeliveries(d, d)
		}),
		deliveriesCommand(),
		ownerCommand("replay ID EVENT", "Send an event to a webhook again", cobra.ExactArgs(2), func(s *session, c *client.Client, args []string) error {
			d, err := c.ReplayDelivery(s.ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return s.showDeliveries(d, d)
		}),
	)
}

// ownerCommand returns a command for a free call of an owner.
func ownerCommand(use, short string, args cobra.PositionalArgs, do func(*session, *client.Client, []string) error) *cobra.Command {
	return command(use, short, args, func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		return do(s, c, args)
	})
}

func (s *session) showSecret(w api.Webhook) error {
	fmt.Fprintln(s.errs, "note: the secret is not shown again")
	return s.show(w, list{rows: [][]string{{"id", w.ID}, {"url", w.URL}, {"secret", w.Secret}}})
}

func listWebhooks(s *session, c *client.Client, _ []string) error {
	out, err := c.Webhooks(s.ctx)
	if err != nil {
		return err
	}
	l := list{heads: []string{"ID", "STATUS", "FAILING SINCE", "URL"}, empty: "no webhooks; `deed webhook add URL` makes one"}
	for _, w := range out.Webhooks {
		l.add(w.ID, w.Status, day(w.FailingSince), w.URL)
	}
	return s.show(out, l)
}

func deliveriesCommand() *cobra.Command {
	var limit int
	var cmd *cobra.Command
	cmd = ownerCommand("deliveries ID", "List what was and will be sent to a webhook, newest first", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
		if err := atLeastOne(cmd, "limit", limit); err != nil {
			return err
		}
		out, err := c.DeliveryPage(s.ctx, args[0], client.Page{Limit: limit})
		if err != nil {
			return err
		}
		return s.showDeliveries(out, out.Deliveries...)
	})
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number to list, up to 100")
	return cmd
}

func (s *session) showDeliveries(v any, deliveries ...api.Delivery) error {
	l := list{heads: []string{"AT", "EVENT", "TYPE", "STATUS", "ATTEMPTS", "ANSWER", "NEXT"}, empty: "nothing was sent yet"}
	for _, d := range deliveries {
		answer := orDash(d.Failure)
		if d.HTTPStatus != 0 {
			answer = strconv.Itoa(d.HTTPStatus)
		}
		l.add(day(d.CreatedAt), d.EventID, d.Type, d.Status, strconv.Itoa(d.Attempts), answer, day(d.NextAttemptAt))
	}
	return s.show(v, l)
}

func calendarCommand() *cobra.Command {
	return group("calendar", "A calendar feed of the expiries of your names",
		ownerCommand("new", "Print a new address of the feed; the former one ends", cobra.NoArgs, func(s *session, c *client.Client, _ []string) error {
			feed, err := c.CreateCalendar(s.ctx)
			if err != nil {
				return err
			}
			fmt.Fprintln(s.errs, "note: whoever has the address sees your names; it is not shown again")
			return s.show(feed, list{rows: [][]string{{feed.URL}}})
		}),
		ownerCommand("show", "Show when the feed was made", cobra.NoArgs, func(s *session, c *client.Client, _ []string) error {
			feed, err := c.Calendar(s.ctx)
			if err != nil {
				return err
			}
			return s.show(feed, list{rows: [][]string{{"since", day(feed.CreatedAt)}}})
		}),
		ownerCommand("rm", "Delete the feed", cobra.NoArgs, func(s *session, c *client.Client, _ []string) error {
			out, err := c.DeleteCalendar(s.ctx)
			if err != nil {
				return err
			}
			return s.show(out, list{rows: [][]string{{"deleted"}}})
		}),
	)
}

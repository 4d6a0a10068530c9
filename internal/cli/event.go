package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func eventsCommand() *cobra.Command {
	var follow bool
	var after string
	cmd := command("events", "List what happened to your names and payments, oldest first", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		if follow {
			return s.followEvents(c, after)
		}
		out := api.Events{Events: []api.Event{}, Cursor: after}
		l := list{heads: []string{"AT", "EVENT", "NAME", "DETAILS"}, empty: "no events"}
		for e, err := range c.Events(s.ctx, after) {
			if err != nil {
				return err
			}
			out.Events, out.Cursor = append(out.Events, e), e.Cursor
			l.add(eventRow(e)...)
		}
		return s.show(out, l)
	})
	cmd.Flags().BoolVar(&follow, "follow", false, "wait for new events and print each as it happens; with --json one object in each line")
	cmd.Flags().StringVar(&after, "after", "", "only events after this cursor")
	return cmd
}

// followEvents prints events as they happen, until the command is interrupted. A
// service that does not respond at the start is an error; later it is waited for.
func (s *session) followEvents(c *client.Client, after string) error {
	for _, events := range []func(context.Context, string) iter.Seq2[api.Event, error]{c.Events, c.WatchEvents} {
		for e, err := range events(s.ctx, after) {
			if s.ctx.Err() != nil {
				return nil // interrupted
			}
			if err != nil {
				return err
			}
			if err := s.printEvent(e); err != nil {
				return err
			}
			after = e.Cursor
		}
	}
	return nil
}

func (s *session) printEvent(e api.Event) error {
	if s.json {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.out, "%s\n", text)
		return err
	}
	row := eventRow(e)
	for i := range row {
		row[i] = clean(row[i])
	}
	_, err := fmt.Fprintln(s.out, strings.Join(row, "\t"))
	return err
}

// eventRow returns the event as a row of a table.
func eventRow(e api.Event) []string {
	d, details := e.Data, []string{}
	add := func(when bool, format string, v any) {
		if when {
			details = append(details, fmt.Sprintf(format, v))
		}
	}
	add(d.Amount != "", "%s USDC", d.Amount)
	add(d.Price != "", "of which %s is the price", d.Price)
	add(d.DaysLeft > 0, "%d days left", d.DaysLeft)
	if !d.ExpiresAt.IsZero() {
		add(true, "expires %s", day(d.ExpiresAt))
	}
	add(d.Serial != 0, "serial %d", d.Serial)
	add(d.NewOwner != "", "to %s", d.NewOwner)
	add(d.Reason != "", "%s", d.Reason)
	return []string{e.CreatedAt.UTC().Format(time.RFC3339), e.Type, d.Domain, strings.Join(details, ", ")}
}

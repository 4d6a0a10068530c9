package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func registerCommand() *cobra.Command {
	var in api.RegisterRequest
	var records []string
	var years int
	var how ordering
	var cmd *cobra.Command
	cmd = command("register NAME", "Buy a name", cobra.ExactArgs(1), func(s *session, args []string) error {
		in.Domain, in.MaxPrice, in.Years = args[0], s.maxPriceText(), given(cmd, "years", years)
		for _, text := range records {
			rec, err := parseRecord(text)
			if err != nil {
				return usageError{err}
			}
			in.DNSRecords = append(in.DNSRecords, rec)
		}
		return s.order(how,
			func(c *client.Client) (api.Quote, error) { return c.QuoteRegistration(s.ctx, in) },
			func(ctx context.Context, c *client.Client) (client.Order, error) { return c.Register(ctx, in) })
	})
	cmd.Flags().IntVar(&years, "years", 0, "number of years (default: the minimum of the TLD)")
	cmd.Flags().StringArrayVar(&records, "dns", nil, `initial record, as "TYPE HOST VALUE"; may be repeated`)
	cmd.Flags().StringSliceVar(&in.Nameservers, "ns", nil, "name servers to use instead of the service's own")
	how.flags(cmd)
	return cmd
}

func renewCommand() *cobra.Command {
	var in api.RenewRequest
	var years int
	var auto string
	var how ordering
	var cmd *cobra.Command
	cmd = command("renew NAME", "Add years to a name", cobra.ExactArgs(1), func(s *session, args []string) error {
		if auto != "" && cmd.Flags().Changed("years") {
			return usagef("--auto has the number of years itself: omit --years")
		}
		if auto != "" {
			return s.autoRenew(args[0], auto, how.dryRun)
		}
		in.Domain, in.MaxPrice, in.Years = args[0], s.maxPriceText(), &years
		c, err := s.open()
		if err != nil {
			return err
		}
		held, err := c.Domain(s.ctx, in.Domain)
		if err != nil {
			return err
		}
		in.ExpectedExpiresAt = held.ExpiresAt // two commands at once add the years once
		return s.order(how,
			func(c *client.Client) (api.Quote, error) { return c.QuoteRenewal(s.ctx, in) },
			func(ctx context.Context, c *client.Client) (client.Order, error) { return c.Renew(ctx, in) })
	})
	cmd.Flags().IntVar(&years, "years", 1, "number of years to add")
	cmd.Flags().StringVar(&auto, "auto", "", autoHelp)
	how.flags(cmd)
	return cmd
}

func transferCommand() *cobra.Command {
	var in api.TransferRequest
	var codeFile string
	var how ordering
	cmd := command("transfer NAME", "Transfer a name in from another registrar", cobra.ExactArgs(1), func(s *session, args []string) error {
		in.Domain, in.MaxPrice = args[0], s.maxPriceText()
		code, err := s.readSecret(codeFile, "Code of the other registrar: ", "--auth-code-file")
		if err != nil {
			return err
		}
		in.AuthCode = code
		return s.order(how,
			func(c *client.Client) (api.Quote, error) { return c.QuoteTransfer(s.ctx, in) },
			func(ctx context.Context, c *client.Client) (client.Order, error) { return c.Transfer(ctx, in) })
	})
	cmd.Flags().StringVar(&codeFile, "auth-code-file", "", "file with the auth code of the current registrar; - is stdin")
	how.flags(cmd)
	return cmd
}

// ordering has the flags of an order.
type ordering struct{ dryRun, wait bool }

func (o *ordering) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "make every check and print the price, but buy nothing")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait until the order is completed (always on a terminal)")
}

// maxPriceText returns the price limit for the service, or nil if it is not set.
func (s *session) maxPriceText() *string {
	if s.maxPrice == nil {
		return nil
	}
	return new(s.maxPrice.String())
}

// order quotes or buys, and shows the result.
func (s *session) order(how ordering, quote func(*client.Client) (api.Quote, error), buy func(context.Context, *client.Client) (client.Order, error)) error {
	if how.dryRun {
		c, err := s.open()
		if err != nil {
			return err
		}
		q, err := quote(c)
		if err != nil {
			return err
		}
		return s.show(q, list{rows: [][]string{{"name", q.Domain}, {"years", strconv.Itoa(q.Years)}, {"price", q.Price + " " + q.Currency}}})
	}
	c, err := s.openWallet()
	if err != nil {
		return err
	}
	out, err := buy(s.ctx, c)
	if err != nil {
		return s.explainCap(err)
	}
	if out.Done != nil {
		return s.showRegistration(*out.Done)
	}
	if _, people := terminal(s.errs); how.wait || people {
		return s.await(c, out.Domain, out.JobID)
	}
	s.printWatchHint(out.Domain, out.JobID)
	if err := s.show(out.Pending, list{rows: [][]string{{"job", out.JobID}, {"name", out.Domain}, {"status", out.Pending.Status}}}); err != nil {
		return err
	}
	return errRunning
}

// printWatchHint prints how to watch an order that is still running.
func (s *session) printWatchHint(name, id string) {
	fmt.Fprintf(s.errs, "%s: the order is still running; `deed job watch %s` waits for its result\n", clean(name), clean(id))
}

// await waits until an order has ended and shows what was bought.
func (s *session) await(c *client.Client, name, id string) error {
	job, err := s.follow(c, id)
	if err != nil {
		s.printWatchHint(name, id)
		return err
	}
	if job.Result == nil {
		return client.JobError(job)
	}
	return s.showRegistration(*job.Result)
}

// explainCap adds the flag to an error about a missing price limit, and says of an
// interrupt whether anything was signed.
func (s *session) explainCap(err error) error {
	if errors.Is(err, context.Canceled) && !isUnknown(err) {
		return notPaid{err}
	}
	e := asError(err)
	if e != nil && e.Code == client.CodePaymentRequired && e.Offer != nil && s.maxPrice == nil {
		return paymentError{fmt.Errorf("%s costs %s USDC: allow it with --max-price %s", clean(e.Offer.For), e.Offer.Price, e.Offer.Price)}
	}
	return err
}

func (s *session) showRegistration(r api.Registration) error {
	l := list{rows: [][]string{{"name", r.Domain}, {"status", r.Status}, {"expires", day(r.ExpiresAt)}, {"paid", r.Price + " USDC"}, {"transaction", hashOf(r.Payment.TxHash)}, {"job", r.JobID}}}
	for _, w := range r.Warnings {
		fmt.Fprintln(s.errs, "note:", clean(w))
	}
	return s.show(r, l)
}

// parseRecord parses "TYPE HOST VALUE". For MX the value starts with the
// preference, as in a zone file.
func parseRecord(text string) (api.RecordRequest, error) {
	kind, rest := cutWord(text)
	host, value := cutWord(rest)
	if value == "" {
		return api.RecordRequest{}, fmt.Errorf("%q is not a record: write \"TYPE HOST VALUE\", such as \"A @ 192.0.2.10\"", text)
	}
	return record(kind, host, value), nil
}

// cutWord returns the first word of a text, and what follows the blanks after it.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], strings.TrimSpace(text[i:])
	}
	return text, ""
}

func record(kind, host, value string) api.RecordRequest {
	rec := api.RecordRequest{Type: strings.ToUpper(kind), Host: host, Value: value}
	if first, rest, ok := strings.Cut(value, " "); ok && rec.Type == "MX" {
		if n, err := strconv.Atoi(first); err == nil {
			rec.Distance, rec.Value = &n, strings.TrimSpace(rest)
		}
	}
	return rec
}

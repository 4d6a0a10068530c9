package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

const autoHelp = `sign the renewals of the coming years, such as 5y, to be paid when they are due, each for --max-price at most; "off" revokes them`

// autoRenew signs or revokes the mandates of a name. A dry run shows them instead.
func (s *session) autoRenew(name, auto string, dryRun bool) error {
	switch {
	case auto == "off" && dryRun:
		return s.showActiveMandates(name)
	case auto == "off":
		return s.revokeMandates(name)
	}
	years, err := strconv.Atoi(strings.TrimSuffix(auto, "y"))
	if err != nil || years < 1 || years > 10 || !strings.HasSuffix(auto, "y") {
		return usagef("--auto is a number of years from 1y to 10y, or off")
	}
	if dryRun {
		return s.showMandatePlan(name, years)
	}
	c, err := s.openWallet()
	if err != nil {
		return err
	}
	plan, err := c.MandatePlan(s.ctx, name, years, s.maxPrice)
	if err != nil {
		return err
	}
	limit, err := client.ParseUSDC(plan.Cap)
	if err != nil {
		return err
	}
	if err := s.confirmMandates(plan); err != nil {
		return err
	}
	out, err := c.AutoRenew(s.ctx, name, years, &limit)
	if err != nil {
		return err
	}
	return s.showMandates(out)
}

// showMandatePlan shows what autoRenew would sign.
func (s *session) showMandatePlan(name string, years int) error {
	c, err := s.openOwner()
	if err != nil {
		return err
	}
	plan, err := c.MandatePlan(s.ctx, name, years, s.maxPrice)
	if err != nil {
		return err
	}
	l := list{heads: []string{"EXPIRY", "STATUS", "AT MOST", "TODAY"}}
	for _, slot := range plan.Renewals {
		status := "not signed"
		if slot.Signed {
			status = "signed"
		}
		l.add(day(slot.ExpiresAt), status, plan.Cap, plan.Price)
	}
	return s.show(plan, l)
}

// showActiveMandates shows what autoRenew would revoke.
func (s *session) showActiveMandates(name string) error {
	c, err := s.openOwner()
	if err != nil {
		return err
	}
	out, err := c.Mandates(s.ctx, name)
	if err != nil {
		return err
	}
	out.Mandates = slices.DeleteFunc(out.Mandates, func(m api.Mandate) bool { return m.Status != "active" })
	return s.showMandates(out)
}

// confirmMandates asks before mandates are signed. Without a terminal, the price limit
// is the consent.
func (s *session) confirmMandates(plan api.MandatePlan) error {
	n := 0
	for _, slot := range plan.Renewals {
		if !slot.Signed {
			n++
		}
	}
	what := fmt.Sprintf("%d renewals of %s, of at most %s USDC each (%s USDC today)", n, clean(plan.Domain), clean(plan.Cap), clean(plan.Price))
	_, asks := terminal(s.in)
	switch {
	case n == 0:
		return nil
	case asks && !s.yes:
		return s.ask(s.ctx, "Sign "+what+"?")
	case s.maxPrice == nil:
		return paymentError{fmt.Errorf("%s: allow it with --max-price %s", what, clean(plan.Cap))}
	}
	fmt.Fprintln(s.errs, "signing", what)
	return nil
}

func (s *session) revokeMandates(name string) error {
	c, err := s.openOwner()
	if err != nil {
		return err
	}
	out, err := c.RevokeMandates(s.ctx, name, "")
	if err != nil {
		return err
	}
	fmt.Fprintln(s.errs, "note:", clean(out.Message))
	return s.showMandates(out)
}

func (s *session) showMandates(out api.Mandates) error {
	l := list{heads: []string{"EXPIRY", "STATUS", "AT MOST", "ID", "NONCE", "NOTE"}}
	for _, m := range out.Mandates {
		l.add(day(m.ExpiresAt), m.Status, m.Cap, m.ID, m.Nonce, orDash(m.Reason))
	}
	return s.show(out, l)
}

func mandatesCommand() *cobra.Command {
	return command("mandates NAME", "List the renewals of a name that were signed in advance", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.Mandates(s.ctx, args[0])
		if err != nil {
			return err
		}
		return s.showMandates(out)
	})
}

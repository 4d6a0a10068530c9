package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func searchCommand() *cobra.Command {
	var tlds []string
	cmd := command("search LABEL", "Find available names; --max-price omits more expensive ones", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		out, err := c.Search(s.ctx, args[0], tlds...)
		if err != nil {
			return err
		}
		out.Results = s.affordable(out.Results)
		return s.show(out, foundList(out.Results))
	})
	cmd.Flags().StringSliceVar(&tlds, "tlds", nil, "TLDs to search, or all")
	return cmd
}

func checkCommand() *cobra.Command {
	return command("check NAME...", "Check which names are available", cobra.MinimumNArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		out, err := c.Check(s.ctx, args...)
		if err != nil {
			return err
		}
		return s.show(out, foundList(out.Results))
	})
}

// affordable returns the names that cost no more than --max-price.
func (s *session) affordable(all []api.Found) []api.Found {
	if s.maxPrice == nil {
		return all
	}
	out := []api.Found{}
	for _, f := range all {
		price, err := client.ParseUSDC(f.Price)
		if f.Available && (err != nil || price > *s.maxPrice) {
			continue
		}
		out = append(out, f)
	}
	return out
}

func foundList(all []api.Found) list {
	l := list{heads: []string{"NAME", "STATE", "FIRST YEAR", "RENEWAL"}}
	for _, f := range all {
		state := "free"
		if !f.Available {
			state = orDash(f.Reason)
		}
		if f.Premium != nil && *f.Premium {
			state += " (premium)"
		}
		if f.MinYears > 1 {
			state += fmt.Sprintf(" (%d years or more)", f.MinYears)
		}
		l.add(f.Domain, state, orDash(f.Price), orDash(f.RenewalPrice))
	}
	return l
}

func priceCommand() *cobra.Command {
	return command("price [TLD]...", "Show what names cost", cobra.ArbitraryArgs, func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			one, err := c.Price(s.ctx, strings.TrimPrefix(args[0], "."))
			if err != nil {
				return err
			}
			return s.show(one, priceList([]api.TLDPrice{one}))
		}
		out, err := c.Pricing(s.ctx, args...)
		if err != nil {
			return err
		}
		return s.show(out, priceList(out.Pricing))
	})
}

func priceList(all []api.TLDPrice) list {
	l := list{heads: []string{"TLD", "FIRST YEAR", "RENEWAL", "TRANSFER", "RESTORE"}}
	for _, p := range all {
		l.add(p.TLD, p.RegistrationPrice, p.RenewalPrice, p.TransferPrice, p.RestorePrice)
	}
	return l
}

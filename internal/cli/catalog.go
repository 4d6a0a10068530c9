package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deed.example/deed"
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
		out, err := c.Search(s.ctx, searchLabel(args[0]), tlds...)
		if err != nil {
			return err
		}
		out.Results = s.affordable(out.Results)
		return s.show(out, foundList(out.Results))
	})
	cmd.Flags().StringSliceVar(&tlds, "tlds", nil, "TLDs to search, or all")
	return cmd
}

// searchLabel returns the A-label of a label in Unicode. Everything else is left as it
// is: the service refuses what is not a label, and says why.
func searchLabel(text string) string {
	if label, err := deed.ParseLabel(text); err == nil && label.IsIDN() {
		return string(label)
	}
	return text
}

func checkCommand() *cobra.Command {
	return command("check NAME...", "Check which names are available", cobra.MinimumNArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		out, err := s.checkNames(c, args)
		if err != nil {
			return err
		}
		return s.show(out, foundList(out.Results))
	})
}

// checkNames checks names. If some of several cannot be checked, because they are
// malformed or their TLD is not sold, it checks the rest and says so of each.
func (s *session) checkNames(c *client.Client, names []string) (api.CheckResult, error) {
	out, err := c.Check(s.ctx, names...)
	if code := client.CodeOf(err); len(names) < 2 || code != client.CodeTLDNotSupported && code != client.CodeValidation {
		return out, err
	}
	sold, listErr := c.Pricing(s.ctx)
	if listErr != nil {
		return out, err
	}
	var good []string
	reasons := map[string]string{}
	for _, name := range names {
		parsed, nameErr := deed.ParseName(name)
		switch {
		case nameErr != nil:
			reasons[name] = "invalid"
		case !slices.ContainsFunc(sold.Pricing, func(p api.TLDPrice) bool { return p.TLD == string(parsed.TLD()) }):
			reasons[name] = "tld not sold"
		default:
			good = append(good, name)
		}
	}
	if len(good) == 0 || len(good) == len(names) {
		return out, err // all are bad, or the problem is another one
	}
	if out, err = c.Check(s.ctx, good...); err != nil {
		return out, err
	}
	return mergeFound(names, out, reasons), nil
}

// mergeFound returns results in the order of the names.
func mergeFound(names []string, checked api.CheckResult, reasons map[string]string) api.CheckResult {
	var out api.CheckResult
	next := 0
	for _, name := range names {
		if reason, bad := reasons[name]; bad {
			_, tld, _ := strings.Cut(name, ".")
			out.Results = append(out.Results, api.Found{Domain: name, TLD: tld, Reason: reason})
		} else if next < len(checked.Results) {
			out.Results = append(out.Results, checked.Results[next])
			next++
		}
	}
	return out
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
	l := list{heads: []string{"NAME", "STATE", "FIRST YEAR", "RENEWAL"}, empty: "no names at that price"}
	for _, f := range all {
		state := "available"
		if !f.Available {
			state = orDash(f.Reason)
		}
		if f.Premium != nil && *f.Premium {
			state += " (premium)"
		}
		if f.MinYears > 1 {
			state += fmt.Sprintf(" (%d years or more)", f.MinYears)
		}
		l.add(withUnicode(f.Domain), state, orDash(f.Price), orDash(f.RenewalPrice))
	}
	return l
}

// withUnicode returns a name with its Unicode form, if that is another. The A-label
// comes first, because scripts read it.
func withUnicode(name string) string {
	if shown := deed.Name(name).Unicode(); shown != name {
		return name + " (" + shown + ")"
	}
	return name
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

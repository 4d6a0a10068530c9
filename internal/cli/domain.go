package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func domainCommand() *cobra.Command {
	return group("domain", "Manage names",
		domainListCommand(),
		onDomain("show NAME", "Show a name", cobra.ExactArgs(1), false, func(s *session, c *client.Client, args []string) (api.Domain, error) {
			return c.Domain(s.ctx, args[0])
		}),
		onDomain("lock NAME", "Prevent transfers to another registrar", cobra.ExactArgs(1), true, func(s *session, c *client.Client, args []string) (api.Domain, error) {
			return c.SetLock(s.ctx, args[0], true)
		}),
		onDomain("unlock NAME", "Allow transfers to another registrar", cobra.ExactArgs(1), true, func(s *session, c *client.Client, args []string) (api.Domain, error) {
			return c.SetLock(s.ctx, args[0], false)
		}),
		nameserverCommand(), dsCommand(), authCodeCommand(), cancelCommand(), registrantCommand(),
		onDomain("handover NAME WALLET", "Give a name to another wallet; this cannot be undone", cobra.ExactArgs(2), true, func(s *session, c *client.Client, args []string) (api.Domain, error) {
			if err := s.confirm(fmt.Sprintf("Give %s to %s? Only that wallet can give it back.", clean(args[0]), clean(args[1]))); err != nil {
				return api.Domain{}, err
			}
			return c.SetOwner(s.ctx, args[0], args[1])
		}),
	)
}

// onDomain returns a command that changes or reads a name and shows it. With
// owner, it signs in.
func onDomain(use, short string, args cobra.PositionalArgs, owner bool, do func(*session, *client.Client, []string) (api.Domain, error)) *cobra.Command {
	return command(use, short, args, func(s *session, args []string) error {
		open := s.open
		if owner {
			open = s.openOwner
		}
		c, err := open()
		if err != nil {
			return err
		}
		d, err := do(s, c, args)
		if err != nil {
			return err
		}
		return s.showDomain(d)
	})
}

func (s *session) showDomain(d api.Domain) error {
	l := list{rows: [][]string{
		{"name", d.Domain}, {"status", d.Status}, {"owner", d.WalletAddress}, {"registered", day(d.RegisteredAt)}, {"expires", day(d.ExpiresAt)}, {"auto-renewal", yesNo(d.AutoRenew)},
		{"locked", yesNo(d.Locked)}, {"name servers", strings.Join(d.Nameservers, " ")}, {"signed", yesNo(d.DNSSEC.Enabled)},
	}}
	if roll := d.DNSSEC.KeyRoll; roll != nil {
		until := "waiting for name servers or the registry"
		if roll.EffectiveAt != nil {
			until = "until " + roll.EffectiveAt.Format(time.RFC3339)
		}
		l.add("key roll", clean(roll.Step)+", "+until)
	}
	if d.Delegation != nil {
		l.add("delegation", delegationState(*d.Delegation, day(d.Delegation.EffectiveAt)))
	}
	if d.Grace != nil {
		l.add("phase", fmt.Sprintf("%s until %s, %s USDC to keep it", d.Grace.Phase, day(d.Grace.EndsAt), orDash(d.Grace.Price)))
	}
	s.warn(d.Warnings)
	return s.show(d, l)
}

// warn prints what the service warns of.
func (s *session) warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(s.errs, "note:", clean(w))
	}
}

func domainListCommand() *cobra.Command {
	var f client.DomainFilter
	var cmd *cobra.Command
	cmd = command("ls", "List the names of the wallet", cobra.NoArgs, func(s *session, _ []string) error {
		if err := atLeastOne(cmd, "expiring", f.ExpiringWithinDays); err != nil {
			return err
		}
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out := api.AccountDomains{Domains: []api.AccountDomain{}, Warnings: []string{}}
		l := list{heads: []string{"NAME", "STATUS", "EXPIRES", "LOCKED", "RENEWAL"}, empty: "no names; `deed register NAME` buys one"}
		for cursor, more := "", true; more; {
			page, err := c.DomainPage(s.ctx, f, client.Page{Limit: 100, Cursor: &cursor})
			if err != nil {
				return err
			}
			out.Domains, out.Warnings = append(out.Domains, page.Domains...), page.Warnings // each page has all warnings
			more, cursor = page.Next != "" && page.Next != cursor, page.Next
		}
		for _, d := range out.Domains {
			l.add(d.Domain, d.Status, day(d.ExpiresAt), yesNo(d.Locked), d.RenewalPrice)
		}
		s.warn(out.Warnings)
		out.Total, out.Limit = api.Count(len(out.Domains)), len(out.Domains)
		return s.show(out, l)
	})
	cmd.Flags().StringVar(&f.Status, "status", "", "only names in this state")
	cmd.Flags().IntVar(&f.ExpiringWithinDays, "expiring", 0, "only names that expire within this many days")
	return cmd
}

func nameserverCommand() *cobra.Command {
	var home, force bool
	cmd := command("ns NAME [SERVER[=ADDRESS,...]]...", "Set the name servers of a name, or show them", cobra.MinimumNArgs(1), func(s *session, args []string) error {
		name, servers := args[0], args[1:]
		if home && len(servers) > 0 {
			return usagef("--default means the service's own name servers: use it without servers, or omit it")
		}
		open := s.openOwner
		if !home && len(servers) == 0 {
			open = s.open
		}
		c, err := open()
		if err != nil {
			return err
		}
		var d api.Domain
		if home || len(servers) > 0 {
			d, err = c.Delegate(s.ctx, name, api.NameserversRequest{Nameservers: parseServers(servers), Force: force})
		} else {
			d, err = c.Domain(s.ctx, name)
		}
		if err != nil {
			return err
		}
		l := list{}
		for _, server := range d.Nameservers {
			l.add(append([]string{server}, glueOf(d.Glue, server)...)...)
		}
		if err := s.show(d, l); err != nil || d.Delegation == nil {
			return err
		}
		fmt.Fprintln(s.errs, delegationState(*d.Delegation, d.Delegation.EffectiveAt.Format(time.RFC3339)))
		return nil
	})
	cmd.Flags().BoolVar(&force, "force", false, "change them at once: validating resolvers may treat a signed name as bogus until their caches expire")
	cmd.Flags().BoolVar(&home, "default", false, "use the service's own name servers")
	return cmd
}

// parseServers parses name servers, those below the name with their addresses:
// "ns1.example.com=192.0.2.1,2001:db8::1". The service checks them.
func parseServers(words []string) []api.Nameserver {
	all := make([]api.Nameserver, len(words))
	for i, word := range words {
		host, addrs, _ := strings.Cut(word, "=")
		all[i].Host = host
		if addrs != "" {
			all[i].Addresses = strings.Split(addrs, ",")
		}
	}
	return all
}

// glueOf returns the addresses of a server as one cell, or none.
func glueOf(glue []api.Glue, host string) []string {
	for _, g := range glue {
		if g.Host == host {
			return []string{strings.Join(g.Addresses, " ")}
		}
	}
	return nil
}

// delegationState says what state a delegation has, and what follows.
func delegationState(d api.Delegation, until string) string {
	if d.RefusedAt != nil {
		return "refused by the registry at " + d.RefusedAt.Format(time.RFC3339) + ", and tried again: " + clean(strings.Join(d.Nameservers, " "))
	}
	return clean(d.State) + " until " + until + ", then: " + clean(delegationOutcome(d))
}

// delegationOutcome says what follows the state of a delegation.
func delegationOutcome(d api.Delegation) string {
	if d.State == "withdrawing" {
		return "the name servers change to " + strings.Join(d.Nameservers, " ")
	}
	return "the name is signed again"
}

func dsCommand() *cobra.Command {
	var none, force bool
	cmd := command("ds NAME [TAG ALGORITHM TYPE DIGEST]...", "Set the DS records of a name that is served elsewhere, or show them", cobra.MinimumNArgs(1), func(s *session, args []string) error {
		records, err := parseDS(args[1:])
		if err != nil {
			return err
		}
		if none && len(records) > 0 {
			return usagef("--none removes all DS records: use it without records, or omit it")
		}
		open, change := s.open, none || len(records) > 0
		if change {
			open = s.openOwner
		}
		c, err := open()
		if err != nil {
			return err
		}
		var d api.Domain
		if change {
			d, err = setDS(s, c, args[0], force, records)
		} else {
			d, err = c.Domain(s.ctx, args[0])
		}
		if err != nil {
			return err
		}
		var l list
		for _, ds := range d.DNSSEC.DS {
			l.add(fmt.Sprint(ds.KeyTag), fmt.Sprint(ds.Algorithm), fmt.Sprint(ds.DigestType), ds.Digest)
		}
		return s.show(d, l)
	})
	cmd.Flags().BoolVar(&none, "none", false, "remove all DS records")
	cmd.Flags().BoolVar(&force, "force", false, "set them at once after a change of name servers: resolvers that still ask the service's own may treat the name as bogus")
	return cmd
}

func setDS(s *session, c *client.Client, name string, force bool, records []api.DS) (api.Domain, error) {
	if force {
		return c.ForceDS(s.ctx, name, records...)
	}
	return c.SetDS(s.ctx, name, records...)
}

// parseDS parses DS records of four words each.
func parseDS(words []string) (list []api.DS, err error) {
	if len(words)%4 != 0 {
		return nil, usagef("a DS has four parts: key tag, algorithm, digest type and digest")
	}
	for i := 0; i < len(words); i += 4 {
		var n [3]uint64
		for j, limit := range []int{16, 8, 8} {
			if n[j], err = strconv.ParseUint(words[i+j], 10, limit); err != nil {
				return nil, usagef("%q is not a number of a DS", words[i+j])
			}
		}
		list = append(list, api.DS{KeyTag: uint16(n[0]), Algorithm: uint8(n[1]), DigestType: uint8(n[2]), Digest: words[i+3]})
	}
	return list, nil
}

func authCodeCommand() *cobra.Command {
	return command("authcode NAME", "Unlock a name and print the code that another registrar needs", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		code, err := c.AuthCode(s.ctx, args[0])
		if err != nil {
			return err
		}
		s.warn(code.Warnings)
		return s.show(code, list{rows: [][]string{{code.AuthCode}}})
	})
}

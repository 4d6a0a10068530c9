package cli

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func registrantCommand() *cobra.Command {
	return group("registrant", "Show or change whose contact data a name has at the registry",
		ownerCommand("show NAME", "Show whose contact data the registry has", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			out, err := c.Registrant(s.ctx, args[0])
			return s.showRegistrant(out, err)
		}),
		registrantSetCommand(),
		ownerCommand("reset NAME", "Erase your data: the registrant is the operator's privacy service again", cobra.ExactArgs(1), func(s *session, c *client.Client, args []string) error {
			out, err := c.ResetRegistrant(s.ctx, args[0])
			return s.showRegistrant(out, err)
		}),
	)
}

func registrantSetCommand() *cobra.Command {
	var in api.Contact
	cmd := command("set NAME [FILE]", "Give your own contact data to the registry, from a JSON file or flags; - is stdin", cobra.RangeArgs(1, 2), func(s *session, args []string) error {
		contact := in
		if len(args) == 2 {
			if !reflect.DeepEqual(in, api.Contact{}) {
				return usagef("give the data in a file or with flags, not both")
			}
			raw, err := s.readFile(args[1])
			if err != nil {
				return err
			}
			contact = api.Contact{}
			if json.Unmarshal(raw, &contact, json.RejectUnknownMembers(true)) != nil {
				return usagef(`%s: write {"name":"Ada Example","street":["1 Any Street"],"city":"London","postalCode":"N1 1AA","country":"GB","phone":"+44.2079460000","email":"ada@example.com"}`, args[1])
			}
		}
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.SetRegistrant(s.ctx, args[0], contact)
		return s.showRegistrant(out, err)
	})
	f := cmd.Flags()
	f.StringVar(&in.Name, "name", "", "first and last name")
	f.StringVar(&in.Organization, "organization", "", "organization, if there is one")
	f.StringArrayVar(&in.Street, "street", nil, "line of the street; up to three times")
	f.StringVar(&in.City, "city", "", "city")
	f.StringVar(&in.Region, "region", "", "state or province")
	f.StringVar(&in.PostalCode, "postal-code", "", "postal code")
	f.StringVar(&in.Country, "country", "", "country, two letters (ISO 3166-1)")
	f.StringVar(&in.Phone, "phone", "", "phone number, such as +44.2079460000")
	f.StringVar(&in.Email, "email", "", "e-mail address")
	return cmd
}

func (s *session) showRegistrant(is api.Registrant, err error) error {
	if err != nil {
		return err
	}
	l := list{rows: [][]string{{"name", is.Domain}, {"registrant", is.Mode}, {"allowed", is.Policy}}}
	if is.Status != "" {
		l.add("status", is.Status)
	}
	if is.Reason != "" {
		l.add("reason", is.Reason)
	}
	if k := is.Contact; k != nil {
		l.add("contact", strings.Join([]string{k.Name, k.Email, k.Phone}, ", "))
		l.add("address", strings.Join(append(append([]string{}, k.Street...), k.PostalCode+" "+k.City, k.Country), ", "))
	}
	return s.show(is, l)
}

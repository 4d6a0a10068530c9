package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// maxChecked is the number of names that are checked with one request. The vendor
// allows 500, but they are in the URL.
const maxChecked = 100

// A checkReply is the result of a check of one name.
type checkReply struct {
	Domain    string `json:"domain"`
	Available *bool  `json:"available"`
	Reason    string `json:"reason"`
	ClaimsKey string `json:"claims_key"`
	Premium   bool   `json:"is_premium"`
	Pricing   *struct {
		Prices []struct {
			Action   string `json:"action"`
			Price    string `json:"price"`
			Currency string `json:"currency"`
		} `json:"prices"`
	} `json:"premium_pricing"`
	Error *struct {
		Type string `json:"type"`
	} `json:"error"`
}

// Available implements registrar.Registrar. A name that is subject to a trademark
// claim cannot be bought: its notice would have to be accepted by the registrant.
func (b *Backend) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	c, err := b.check(ctx, readLane, name)
	if err != nil {
		return registrar.Availability{}, err
	}
	rules, err := b.tldRules(ctx, name.TLD())
	if err != nil {
		return registrar.Availability{}, err
	}
	if rules.Unsupported != "" {
		return registrar.Availability{}, notSold(name.TLD(), rules)
	}
	return c.availability(), nil
}

// AvailableAll implements registrar.BulkChecker. Names of TLDs that are known not to be
// sold are left out.
func (b *Backend) AvailableAll(ctx context.Context, names []deed.Name) (map[deed.Name]registrar.Availability, error) {
	all := map[deed.Name]registrar.Availability{}
	var failure error
	for len(names) > 0 {
		n := min(len(names), maxChecked)
		checked, err := b.checkAll(ctx, names[:n])
		if err != nil {
			failure = err
		}
		for name, c := range checked {
			if rules, known := b.knownRules(name.TLD()); !known || rules.Unsupported == "" {
				all[name] = c.availability()
			}
		}
		names = names[n:]
	}
	if len(all) == 0 {
		return nil, failure
	}
	return all, nil
}

// A checked name is the result of a check.
type checked struct {
	available bool
	reserved  bool
	premium   *premium // nil for a name with the usual price
}

func (c checked) availability() registrar.Availability {
	a := registrar.Availability{Available: c.available}
	switch {
	case c.reserved:
		a.Reason = "reserved"
	case !c.available:
		a.Reason = "taken"
	}
	if c.premium != nil && c.premium.create > 0 && c.premium.renew > 0 {
		a.Premium, a.Wholesale, a.Renewal = true, c.premium.create, c.premium.renew
	}
	return a
}

// check checks one name. It fails with CodeTLDNotSupported when the vendor does not
// sell names like it.
func (b *Backend) check(ctx context.Context, l lane, name deed.Name) (checked, error) {
	reply, err := b.askCheck(ctx, l, []deed.Name{name})
	if err != nil {
		return checked{}, err
	}
	if len(reply) != 1 {
		return checked{}, fmt.Errorf("check %s: the reply has %d results", name, len(reply))
	}
	found, c, err := readCheck(reply[0])
	if err == nil && found != name {
		err = fmt.Errorf("the reply is about %s", deed.Quoted(string(found)))
	}
	if err != nil {
		return checked{}, b.unknown("check "+string(name), err)
	}
	return c, nil
}

// checkAll checks names with one request. It returns those that were answered, and why
// others were not.
func (b *Backend) checkAll(ctx context.Context, names []deed.Name) (map[deed.Name]checked, error) {
	reply, err := b.askCheck(ctx, readLane, names)
	if err != nil {
		return nil, err
	}
	asked := make(map[deed.Name]bool, len(names))
	for _, name := range names {
		asked[name] = true
	}
	all := map[deed.Name]checked{}
	var failure error
	for _, raw := range reply {
		name, c, err := readCheck(raw)
		if err != nil && deed.CodeOf(err) != deed.CodeTLDNotSupported {
			failure = b.unknown("check names", err)
		}
		if err != nil || !asked[name] {
			continue // this one is unknown, the others are not
		}
		all[name] = c
		asked[name] = false // a second result for the name contradicts the first, or repeats it
	}
	return all, failure
}

func (b *Backend) askCheck(ctx context.Context, l lane, names []deed.Name) ([]jsontext.Value, error) {
	query := url.Values{}
	for _, name := range names {
		query.Add("domains", string(name))
	}
	var reply struct {
		Results []jsontext.Value `json:"results"`
	}
	err := b.api.do(ctx, request{lane: l, method: http.MethodGet, path: "/v1/domains/check", query: query}, &reply)
	if err != nil {
		return nil, b.unknown("check names", err)
	}
	return reply.Results, nil
}

// readCheck reads one result. It fails with CodeTLDNotSupported when the vendor does not
// sell names like it.
func readCheck(raw jsontext.Value) (deed.Name, checked, error) {
	var r checkReply
	if err := json.Unmarshal(raw, &r); err != nil {
		return "", checked{}, fmt.Errorf("%w: %w", errUndocumented, err)
	}
	name, err := deed.ParseName(r.Domain)
	switch {
	case r.Error != nil && r.Error.Type == "validation_error":
		return "", checked{}, deed.Errorf(deed.CodeTLDNotSupported, "the registrar does not sell %s", deed.Quoted(r.Domain))
	case err != nil:
		return "", checked{}, noCode(err)
	case r.Error != nil:
		return name, checked{}, fmt.Errorf("the registry was not asked: %s", short(r.Error.Type))
	case r.Available == nil:
		return name, checked{}, fmt.Errorf("the reply does not say whether the name is available")
	}
	c := checked{available: *r.Available, reserved: !*r.Available && strings.Contains(strings.ToLower(r.Reason), "reserv")}
	if r.ClaimsKey != "" && c.available {
		c.available, c.reserved = false, true
	}
	if !r.Premium {
		return name, c, nil
	}
	p, err := parsePremium(r)
	if err != nil && c.available {
		return name, checked{}, fmt.Errorf("the price of the premium name %s: %w", name, err)
	}
	c.premium = &p // of one that is taken, as far as they are known
	return name, c, nil
}

// A premium has the prices of a premium name; 0 for those that the vendor does not
// tell.
type premium struct{ create, renew, transfer, restore deed.USDC }

// parsePremium reads the prices of a premium name. It fails, and returns what it has read,
// without those of its registration and renewal, which one that is free needs.
func parsePremium(r checkReply) (p premium, err error) {
	if r.Pricing == nil {
		return p, fmt.Errorf("it has none")
	}
	into := map[string]*deed.USDC{
		"create": &p.create, "registration": &p.create, "renew": &p.renew, "renewal": &p.renew,
		"transfer": &p.transfer, "restore": &p.restore,
	}
	for _, entry := range r.Pricing.Prices {
		target := into[strings.ToLower(entry.Action)]
		if target == nil {
			continue
		}
		amount, err := parsePrice(entry.Price, entry.Currency)
		if err != nil {
			return p, err
		}
		*target = max(*target, amount)
	}
	if p.create == 0 || p.renew == 0 {
		return p, fmt.Errorf("the prices of the registration and of the renewal are needed")
	}
	return p, nil
}

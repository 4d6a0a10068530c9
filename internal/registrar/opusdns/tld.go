package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"deed.example/deed"
)

// rulesAge is how long the rules of a TLD are used.
const rulesAge = 12 * time.Hour

// retryRules is how long others are used when the vendor does not tell them.
const retryRules = time.Minute

// Rules are the vendor's rules for the names of a TLD.
type Rules struct {
	Unsupported    string // why names of the TLD cannot be sold here; "" when they can
	RegisterYears  []int  // terms of a registration; nil for 1 to 10
	RenewYears     []int  // terms of a renewal; nil for 1 to 10
	AddGraceDays   int    // in which a new name can be deleted
	GraceDays      int    // to renew after the expiry; 0 also when the vendor does not tell
	RedemptionDays int    // to restore after that; 0 also when the vendor does not tell
	IDN            bool
	DNSSEC         bool
}

// tldRules are rules with what only this package uses.
type tldRules struct {
	Rules
	at            time.Time
	roles         []string // of the contacts that a registration needs
	transferRoles []string // of those that a transfer needs
	codeMin       int      // length of an auth code
	codeMax       int
	codePattern   *regexp.Regexp // nil for any
	codeIsTheirs  bool           // the registry makes the code, and we cannot set it
}

// allRoles are the contacts of a name where the TLD does not say otherwise.
var allRoles = []string{"registrant", "admin", "tech", "billing"}

// defaultRules are used when the vendor does not tell the rules of a TLD.
func defaultRules() tldRules {
	return tldRules{Rules: Rules{AddGraceDays: 5, IDN: true, DNSSEC: true}, roles: allRoles, transferRoles: allRoles, codeMin: minCode, codeMax: maxCode}
}

// Rules returns the rules of the TLD. It fails with CodeTLDNotSupported when the
// vendor does not sell it.
func (b *Backend) Rules(ctx context.Context, tld deed.TLD) (Rules, error) {
	r, err := b.tldRules(ctx, tld)
	return r.Rules, err
}

// TLDs returns the TLDs that the vendor sells names of.
func (b *Backend) TLDs(ctx context.Context) ([]deed.TLD, error) {
	var reply []struct {
		TLD string `json:"tld"`
	}
	err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/tlds/portfolio", limit: maxList}, &reply)
	if err != nil {
		return nil, b.unknown("list the TLDs", err)
	}
	var all []deed.TLD
	for _, r := range reply {
		if tld, err := deed.ParseTLD(r.TLD); err == nil {
			all = append(all, tld)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 {
		return nil, fmt.Errorf("list the TLDs: the reply has none")
	}
	return all, nil
}

// notSold is the error of a TLD whose names cannot be sold here.
func notSold(tld deed.TLD, rules tldRules) error {
	return deed.Errorf(deed.CodeTLDNotSupported, ".%s cannot be registered here: %s", tld, rules.Unsupported)
}

type tldReply struct {
	Contacts *struct {
		Attributes []struct {
			Key      string `json:"key"`
			Required bool   `json:"required"`
		} `json:"possible_attributes"`
		Roles         []roleReply `json:"supported_roles"`
		TransferRoles []roleReply `json:"transfer_supported_roles"`
	} `json:"contacts"`
	Lifecycle *struct {
		AddGrace   string   `json:"add_grace_period"`
		Grace      string   `json:"grace_period"`
		Redemption string   `json:"redemption_period"`
		Register   []period `json:"registration_periods"`
		Renew      []period `json:"renewal_periods"`
	} `json:"domain_lifecycle"`
	IDN *struct {
		Capable bool `json:"idn_capable"`
	} `json:"idn"`
	DNS *struct {
		DNSSEC bool `json:"dnssec_allowed"`
	} `json:"dns_configuration"`
	Legal []struct {
		Key        string   `json:"key"`
		Type       string   `json:"type"`
		Operations []string `json:"operations"`
	} `json:"legal_requirements"`
	Presence *struct {
		Required bool `json:"required"`
	} `json:"local_presence"`
	Transfers *struct {
		Max            int    `json:"authinfo_max_length"`
		Min            int    `json:"authinfo_min_length"`
		Pattern        string `json:"authinfo_pattern"`
		SetByRegistrar *bool  `json:"authinfo_set_by_registrar"`
	} `json:"transfer_policies"`
}

type roleReply struct {
	Type string `json:"type"`
	Min  int    `json:"min"`
}

// tldRules returns the rules of the TLD. When the vendor does not respond, older ones
// or the defaults are used: the vendor checks every order anyway.
func (b *Backend) tldRules(ctx context.Context, tld deed.TLD) (tldRules, error) {
	known, ok := b.knownRules(tld)
	if ok && time.Since(known.at) < rulesAge {
		return known, nil
	}
	var reply tldReply
	err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/tlds/" + url.PathEscape(string(tld))}, &reply)
	switch p := refusal(err); {
	case p != nil && p.is(codeTLDUnavailable):
		return tldRules{}, deed.Errorf(deed.CodeTLDNotSupported, "the registrar does not sell .%s", tld)
	case ctx.Err() != nil:
		return tldRules{}, ctx.Err()
	}
	rules := parseRules(reply)
	if err != nil {
		if rules = known; !ok {
			rules = defaultRules()
		}
		rules.at = time.Now().Add(retryRules - rulesAge)
	}
	b.mu.Lock()
	b.rules[tld] = rules
	b.mu.Unlock()
	return rules, nil
}

// knownRules returns the rules of the TLD that were read last.
func (b *Backend) knownRules(tld deed.TLD) (tldRules, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rules, ok := b.rules[tld]
	return rules, ok
}

// parseRules reads the rules of a TLD.
func parseRules(r tldReply) tldRules {
	rules := defaultRules()
	rules.at = time.Now()
	if l := r.Lifecycle; l != nil {
		rules.AddGraceDays, rules.GraceDays, rules.RedemptionDays = parseDays(l.AddGrace, 5), parseDays(l.Grace, 0), parseDays(l.Redemption, 0)
		rules.RegisterYears, rules.RenewYears = terms(l.Register), terms(l.Renew)
	}
	if r.IDN != nil {
		rules.IDN = r.IDN.Capable
	}
	if r.DNS != nil {
		rules.DNSSEC = r.DNS.DNSSEC
	}
	if c := r.Contacts; c != nil && len(c.Roles) > 0 {
		rules.roles = needed([]string{"registrant"}, c.Roles)
		rules.transferRoles = rules.roles
	}
	if c := r.Contacts; c != nil && c.TransferRoles != nil {
		rules.transferRoles = needed(nil, c.TransferRoles)
	}
	if t := r.Transfers; t != nil {
		rules.codeMin, rules.codeMax = max(t.Min, rules.codeMin), min(positiveOr(t.Max, rules.codeMax), rules.codeMax)
		rules.codeIsTheirs = t.SetByRegistrar != nil && !*t.SetByRegistrar
		if pattern, err := regexp.Compile(t.Pattern); err == nil && t.Pattern != "" {
			rules.codePattern = pattern
		}
	}
	rules.Unsupported = r.demand()
	return rules
}

// demand returns what the TLD demands of a registrant that we cannot give.
func (r tldReply) demand() string {
	if r.Presence != nil && r.Presence.Required {
		return "the registry demands a local presence"
	}
	if r.Contacts != nil {
		for _, a := range r.Contacts.Attributes {
			if a.Required {
				return "the registry demands data about the registrant"
			}
		}
	}
	for _, l := range r.Legal {
		if l.Type == "confirmation" && slices.Contains(l.Operations, "registration") {
			return "the registry demands a confirmation of the registrant"
		}
	}
	return ""
}

func positiveOr(n, other int) int {
	if n > 0 {
		return n
	}
	return other
}

// needed returns the roles, and those of the others that are needed.
func needed(roles []string, others []roleReply) []string {
	for _, r := range others {
		if r.Min > 0 && slices.Contains(allRoles, r.Type) && !slices.Contains(roles, r.Type) {
			roles = append(roles, r.Type)
		}
	}
	return roles
}

var isoDays = regexp.MustCompile(`^P?([0-9]{1,3})D$`)

// parseDays parses a duration in days (ISO 8601), such as "P5D". It returns the other
// number when it is not one.
func parseDays(s string, other int) int {
	found := isoDays.FindStringSubmatch(s)
	if found == nil {
		return other
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return other
	}
	return n
}

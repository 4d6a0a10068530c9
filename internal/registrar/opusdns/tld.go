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

// tldRules are the vendor's rules for the names of a TLD.
type tldRules struct {
	at           time.Time
	unsupported  string   // why names of the TLD cannot be sold; "" when they can
	roles        []string // of the contacts that a registration needs
	addGrace     time.Duration
	codeMin      int // length of an auth code
	codeMax      int
	codePattern  *regexp.Regexp // nil for any
	codeIsTheirs bool           // the registry makes the code, and we cannot set it
}

// allRoles are the contacts of a name where the TLD does not say otherwise.
var allRoles = []string{"registrant", "admin", "tech", "billing"}

// defaultRules are used when the vendor does not tell the rules of a TLD.
func defaultRules() tldRules {
	return tldRules{roles: allRoles, addGrace: 5 * 24 * time.Hour, codeMin: 6, codeMax: 32}
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

type tldReply struct {
	Contacts *struct {
		Attributes []struct {
			Key      string `json:"key"`
			Required bool   `json:"required"`
		} `json:"possible_attributes"`
		Roles []struct {
			Type string `json:"type"`
			Min  int    `json:"min"`
		} `json:"supported_roles"`
	} `json:"contacts"`
	Lifecycle *struct {
		AddGrace string `json:"add_grace_period"`
	} `json:"domain_lifecycle"`
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

// tldRules returns the rules of the TLD. When the vendor does not respond, older ones
// or the defaults are used: the vendor checks every order anyway.
func (b *Backend) tldRules(ctx context.Context, tld deed.TLD) (tldRules, error) {
	b.mu.Lock()
	known, ok := b.rules[tld]
	b.mu.Unlock()
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

// parseRules reads the rules of a TLD.
func parseRules(r tldReply) tldRules {
	rules := defaultRules()
	rules.at = time.Now()
	if r.Lifecycle != nil {
		if d, ok := parseDays(r.Lifecycle.AddGrace); ok {
			rules.addGrace = d
		}
	}
	if c := r.Contacts; c != nil && len(c.Roles) > 0 {
		rules.roles = []string{"registrant"}
		for _, role := range c.Roles {
			if role.Min > 0 && slices.Contains(allRoles, role.Type) && !slices.Contains(rules.roles, role.Type) {
				rules.roles = append(rules.roles, role.Type)
			}
		}
	}
	if t := r.Transfers; t != nil {
		rules.codeMin, rules.codeMax = max(t.Min, rules.codeMin), min(positiveOr(t.Max, rules.codeMax), rules.codeMax)
		rules.codeIsTheirs = t.SetByRegistrar != nil && !*t.SetByRegistrar
		if pattern, err := regexp.Compile(t.Pattern); err == nil && t.Pattern != "" {
			rules.codePattern = pattern
		}
	}
	rules.unsupported = r.demand()
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

var isoDays = regexp.MustCompile(`^P?([0-9]{1,4})D$`)

// parseDays parses a duration in days (ISO 8601), such as "P5D".
func parseDays(s string) (time.Duration, bool) {
	found := isoDays.FindStringSubmatch(s)
	if found == nil {
		return 0, false
	}
	n, err := strconv.Atoi(found[1])
	return time.Duration(n) * 24 * time.Hour, err == nil
}

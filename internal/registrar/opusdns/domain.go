package opusdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// A domainReply is the vendor's domain object, as far as it is used.
type domainReply struct {
	Name         string            `json:"name"`
	Owner        string            `json:"owner_id"`
	ROID         string            `json:"roid"`
	Code         string            `json:"auth_code"`
	Created      string            `json:"created_on"`
	Registered   string            `json:"registered_on"`
	Expires      string            `json:"expires_on"`
	Updated      string            `json:"updated_on"`
	Nameservers  []nameserver      `json:"nameservers"`
	Statuses     []string          `json:"registry_statuses"`
	Locked       bool              `json:"transfer_lock"`
	Premium      bool              `json:"is_premium"`
	Verification *verificationData `json:"verification_required"`
}

type nameserver struct {
	Hostname  string   `json:"hostname"`
	Addresses []string `json:"ip_addresses,omitempty"`
}

// addresses returns the addresses that can be read, at most maxAddresses.
func (n nameserver) addresses() (addrs []netip.Addr) {
	for _, text := range n.Addresses[:min(len(n.Addresses), maxAddresses)] {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			addrs = append(addrs, a.Unmap())
		}
	}
	return addrs
}

// A domain is a domain object whose fields were checked. A time that the vendor does
// not tell is zero.
type domain struct {
	name         deed.Name
	roid         string // "" when it is not one
	code         deed.Secret
	created      time.Time // of the object: when it was ordered
	registered   time.Time // of the name
	expires      time.Time
	expiresExact time.Time // with fractions of a second, to repeat it to the vendor
	updated      time.Time
	nameservers  []string
	glue         lifecycle.Glue // of those below the name, where the vendor tells it
	statuses     []string
	locked       bool
	premium      bool
	verification Verification
}

// domain returns the domain object of the name. It fails with CodeNotFound when the
// name is not in the account.
func (b *Backend) domain(ctx context.Context, l lane, name deed.Name) (domain, error) {
	var reply domainReply
	err := b.api.do(ctx, request{lane: l, method: http.MethodGet, path: domainPath(name)}, &reply)
	if p := refusal(err); p != nil && p.is(codeDomainNotFound) {
		return domain{}, notInAccount(name)
	}
	if err != nil {
		return domain{}, b.unknown("look up "+string(name), err)
	}
	d, err := parseDomain(reply)
	if err != nil || d.name != name {
		b.warn(warnReplies, "the data of a name cannot be read")
		return domain{}, fmt.Errorf("look up %s: the reply is about %s: %w", name, deed.Quoted(reply.Name), orOther(err))
	}
	if !b.owns(reply) {
		return domain{}, notInAccount(name)
	}
	if d.expires.After(b.config.Now().AddDate(maxYears+1, 0, 0)) {
		b.warn(warnReplies, "a name expires later than is possible")
		return domain{}, fmt.Errorf("look up %s: it cannot expire on %s", name, d.expires.Format(time.DateOnly))
	}
	return d, nil
}

// noCode hides the code of an error that is not final.
func noCode(err error) error { return errors.New(err.Error()) }

// orOther returns err, or that a reply is about something else.
func orOther(err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("this is another name")
}

// owns reports whether the object belongs to our organization: an account can also
// see those of the organizations below it.
func (b *Backend) owns(reply domainReply) bool {
	return reply.Owner == "" || reply.Owner == "None" || reply.Owner == b.config.Organization
}

// domainPath returns the path of the name's domain object.
func domainPath(name deed.Name) string { return "/v1/domains/" + url.PathEscape(string(name)) }

func notInAccount(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not in our account", name)
}

// Limits of the lists in a domain object.
const (
	maxStatuses = 40
	maxHosts    = 30
)

// parseDomain checks a domain object. Its errors have no code: what the vendor writes
// wrong is not the caller's fault.
func parseDomain(r domainReply) (domain, error) {
	name, err := deed.ParseName(r.Name)
	if err != nil {
		return domain{}, noCode(err)
	}
	d := domain{name: name, roid: lifecycle.ParseROID(r.ROID), code: deed.Secret(r.Code), premium: r.Premium}
	for _, t := range []struct {
		text string
		into *time.Time
	}{{r.Created, &d.created}, {r.Registered, &d.registered}, {r.Expires, &d.expires}, {r.Updated, &d.updated}} {
		if *t.into, err = parseTime(t.text); err != nil {
			return domain{}, err
		}
	}
	if d.expiresExact, err = parseExact(r.Expires); err != nil {
		return domain{}, err
	}
	if len(r.Statuses) > maxStatuses || len(r.Nameservers) > maxHosts {
		return domain{}, fmt.Errorf("%d statuses and %d name servers are too many", len(r.Statuses), len(r.Nameservers))
	}
	for _, s := range r.Statuses {
		if !isStatus(s) {
			return domain{}, fmt.Errorf("%s is not a status", deed.Quoted(s))
		}
		d.statuses = append(d.statuses, s)
	}
	d.locked = r.Locked || d.has("clientTransferProhibited")
	for _, ns := range r.Nameservers {
		host, err := deed.ParseHost(ns.Hostname)
		if err != nil {
			return domain{}, noCode(err)
		}
		if slices.Contains(d.nameservers, host) {
			continue // it is repeated
		}
		d.nameservers = append(d.nameservers, host)
		if addrs := ns.addresses(); lifecycle.Below(host, name) && len(addrs) > 0 {
			d.glue = append(d.glue, dnssec.Nameserver{Host: host, Addresses: addrs})
		}
	}
	d.verification, err = parseVerification(r.Verification)
	return d, err
}

// isStatus reports whether s looks like a status (RFC 5731, 2.3).
func isStatus(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// has reports whether the name has the status. The vendor's guides write some with
// underscores: pending_transfer.
func (d domain) has(status string) bool {
	return slices.ContainsFunc(d.statuses, func(s string) bool {
		return strings.EqualFold(strings.ReplaceAll(s, "_", ""), status)
	})
}

// ending reports whether the name was deleted, and may only be restored.
func (d domain) ending() bool {
	return d.has("pendingDelete") || d.has("redemptionPeriod") || d.has("deleted") || d.has("free")
}

// failed reports whether the vendor says that the order for this object failed.
func (d domain) failed() bool { return d.has("failed") || d.has("invalid") }

// phase returns the phase of the name.
func (d domain) phase(now time.Time) lifecycle.Phase {
	switch {
	case d.has("redemptionPeriod") || d.has("pendingRestore"):
		return lifecycle.PhaseRedemption
	case d.has("pendingDelete"):
		return lifecycle.PhasePendingDelete
	case !now.Before(d.expires):
		return lifecycle.PhaseGrace
	}
	return lifecycle.PhaseActive
}

// inAccount reports whether the account has the name, and does not only wait for it.
func (d domain) inAccount() bool {
	return !d.failed() && !d.has("pendingCreate") && !d.has("deleted") && !d.has("free") && !d.expires.IsZero()
}

// start returns when the name was registered.
func (d domain) start() time.Time {
	if d.registered.IsZero() {
		return d.created
	}
	return d.registered
}

// holding returns the domain as the service stores it. The vendor has no references.
func (d domain) holding(now time.Time) lifecycle.Holding {
	statuses := slices.Clone(d.statuses)
	if d.locked && !d.has("clientTransferProhibited") {
		statuses = append(statuses, "clientTransferProhibited")
	}
	return lifecycle.Holding{
		Name: d.name, Created: d.start(), Expires: d.expires, Phase: d.phase(now), EPPStatus: statuses,
		Locked: d.locked, Nameservers: d.nameservers, Glue: d.glue, ROID: d.roid, Verification: d.verification.demand(),
	}
}

// timeLayouts are the forms of a time. Without a zone it is UTC.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02"}

// parseTime parses a time of the vendor, to the second. The time of "" is zero.
func parseTime(s string) (time.Time, error) {
	t, err := parseExact(s)
	return t.Truncate(time.Second), err
}

// parseExact parses a time of the vendor.
func parseExact(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1980 && t.Year() < 2200 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s is not a time", deed.Quoted(s))
}

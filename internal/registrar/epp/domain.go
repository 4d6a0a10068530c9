package epp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
)

type domainCheck struct {
	Names []struct {
		Name struct {
			Text  string `xml:",chardata"`
			Avail string `xml:"avail,attr"`
		} `xml:"name"`
		Reason string `xml:"reason"`
	} `xml:"cd"`
}

type domainInfo struct {
	Name     string `xml:"name"`
	Statuses []struct {
		Value string `xml:"s,attr"`
	} `xml:"status"`
	HostObjects []string   `xml:"ns>hostObj"`
	HostAttrs   []hostAttr `xml:"ns>hostAttr"`
	Below       []string   `xml:"host"` // hosts below the name, if they were asked for
	ROID        string     `xml:"roid"`
	Registrant  string     `xml:"registrant"`
	ClID        string     `xml:"clID"`
	CrID        string     `xml:"crID"`
	Created     string     `xml:"crDate"`
	Expires     string     `xml:"exDate"`
	Updated     string     `xml:"upDate"`
	Transferred string     `xml:"trDate"`
	AuthInfo    string     `xml:"authInfo>pw"`
}

type domainDates struct {
	Name    string `xml:"name"`
	Created string `xml:"crDate"`
	Expires string `xml:"exDate"`
}

type rgpInfo struct {
	Statuses []struct {
		Value string `xml:"s,attr"`
	} `xml:"rgpStatus"`
}

type dsInfo struct {
	DS []struct {
		KeyTag     uint16 `xml:"keyTag"`
		Algorithm  uint8  `xml:"alg"`
		DigestType uint8  `xml:"digestType"`
		Digest     string `xml:"digest"`
	} `xml:"dsData"`
	Keys []keyInfo `xml:"keyData"`
}

// keyInfo is a key that a registry publishes the DS of (RFC 5910, 4.2).
type keyInfo struct {
	Flags     uint16 `xml:"flags"`
	Protocol  uint8  `xml:"protocol"`
	Algorithm uint8  `xml:"alg"`
	PublicKey string `xml:"pubKey"`
}

// A domain is what the registry says about a name.
type domain struct {
	name        deed.Name
	roid        string   // "" when it is not one
	statuses    []string // of RFC 5731, then those of RFC 3915
	hosts       []string
	glue        lifecycle.Glue // of host attributes
	below       []string       // hosts below the name, if they were asked for
	ds          []dnssec.DS
	keys        int    // that the registry has instead of DS records, which are those of the keys
	registrant  string // identifier of its contact; may be empty
	holder      string // clID
	creator     string // crID; may be empty
	created     time.Time
	expires     time.Time
	expiresDay  string      // as the registry writes it, in its own time zone
	updated     time.Time   // zero when the registry does not say
	transferred time.Time   // zero when it never was
	authInfo    deed.Secret // "" when the registry does not show it
}

func (d domain) has(status string) bool { return slices.Contains(d.statuses, status) }

// inRedemption reports whether the name can only be restored.
func (d domain) inRedemption() bool {
	return d.has("redemptionPeriod") || d.has("pendingRestore")
}

// ending reports whether the name is in redemption or about to be deleted.
func (d domain) ending() bool { return d.has("pendingDelete") || d.inRedemption() }

// phase returns the phase of the name.
func (d domain) phase(now time.Time) lifecycle.Phase {
	switch {
	case d.inRedemption():
		return lifecycle.PhaseRedemption
	case d.has("pendingDelete"):
		return lifecycle.PhasePendingDelete
	case d.has("autoRenewPeriod"), !now.Before(d.expires):
		return lifecycle.PhaseGrace
	}
	return lifecycle.PhaseActive
}

// ours reports whether the name is in our account.
func (b *Backend) ours(d domain) bool { return b.isUs(d.holder) }

// isUs reports whether the identifier of a registrar is ours. Registries take it at login in
// any letter case, and write it in their own.
func (b *Backend) isUs(id string) bool { return strings.EqualFold(id, b.cfg.ClientID) }

// info looks a name up, in our account or not. It fails with CodeNotFound when it is
// not registered, or only shown to others, with CodeValidation when the code is not
// the name's, and without a code otherwise.
func (b *Backend) info(ctx context.Context, name deed.Name, code deed.Secret) (domain, error) {
	return b.infoWith(ctx, name, code, "del")
}

// infoWith is info with these hosts: "del" for the name servers, "all" to add those
// below the name.
func (b *Backend) infoWith(ctx context.Context, name deed.Name, code deed.Secret, hosts string) (domain, error) {
	r, err := b.send(ctx, command{body: func(w *writer, _ services) {
		w.element("info", func() {
			w.object("domain", "info", nsDomain, func() {
				w.text("domain:name", string(name), "hosts", hosts)
				writeCode(w, code)
			})
		})
	}})
	switch {
	case err != nil:
		return domain{}, err
	case r.code() == codeNotOurs && code == "": // some registries show only our own names
		return domain{}, notInAccount(name)
	case r.code() == codeNotOurs:
		return domain{}, deed.Invalid("authCode", "is not the code of %s", name)
	case r.code() != codeOK:
		return domain{}, b.refused(r, string(name), beforeMoney)
	case len(r.Data.Domains) != 1:
		return domain{}, b.invalidReply("%d names for one", len(r.Data.Domains))
	}
	d, err := parseDomain(r, name)
	if b.cfg.Profile.HiddenAuthInfo || strings.Trim(d.authInfo.Reveal(), "*xX") == "" {
		d.authInfo = "" // not shown, or a placeholder
	}
	if err != nil {
		return domain{}, b.invalidReply("info of %s: %w", name, err)
	}
	return d, nil
}

// held looks up a name in our account. It fails with CodeNotFound when it is not
// there.
func (b *Backend) held(ctx context.Context, name deed.Name) (domain, error) {
	d, err := b.info(ctx, name, "")
	if deed.CodeOf(err) == deed.CodeNotFound {
		return d, notInAccount(name)
	}
	if err == nil && !b.ours(d) {
		return d, b.elsewhere(d)
	}
	if err == nil && !d.expires.IsZero() && !b.plausible(d.expires) {
		return d, b.invalidReply("%s expires on %s", name, d.expires)
	}
	return d, err
}

// maxTransferAge is how long after it a transfer explains that a name of ours is in
// another account.
const maxTransferAge = 60 * 24 * time.Hour

// elsewhere returns the error of a name that another registrar has. The date of a
// transfer shows that it left; without one it may be an error of the registry.
func (b *Backend) elsewhere(d domain) error {
	err := &deed.Error{Code: deed.CodeNotFound, Message: fmt.Sprintf("%s is not in our account", d.name)}
	if age := b.cfg.Now().Sub(d.transferred); !d.transferred.IsZero() && age < maxTransferAge && age > -maxSkew {
		err.Err = registrar.ErrElsewhere
	}
	return err
}

// plausible reports whether a name that is registered can expire at that time: it is
// not sold for more than ten years, and does not stay registered long after.
func (b *Backend) plausible(expires time.Time) bool {
	now := b.cfg.Now()
	return expires.Before(now.AddDate(11, 0, 0)) && expires.After(now.AddDate(-2, 0, 0))
}

func writeCode(w *writer, code deed.Secret) {
	if code != "" {
		w.element("domain:authInfo", func() { w.text("domain:pw", code.Reveal()) })
	}
}

// Limits of what is stored of a name.
const (
	maxStatuses = 40
	maxHosts    = 30
)

func parseDomain(r response, name deed.Name) (domain, error) {
	in := r.Data.Domains[0]
	d := domain{name: name, roid: lifecycle.ParseROID(in.ROID), registrant: strings.TrimSpace(in.Registrant), holder: strings.TrimSpace(in.ClID), creator: strings.TrimSpace(in.CrID), authInfo: deed.Secret(strings.TrimSpace(in.AuthInfo))}
	var err error
	if !sameName(in.Name, name) || d.holder == "" {
		return d, errOtherName
	}
	if d.created, err = optionalTime(in.Created); err != nil {
		return d, err
	}
	if d.expires, err = optionalTime(in.Expires); err != nil {
		return d, err
	}
	d.expiresDay = d.expires.Format(time.DateOnly)
	if text := strings.TrimSpace(in.Expires); len(text) >= len(time.DateOnly) {
		d.expiresDay = text[:len(time.DateOnly)]
	}
	if d.transferred, err = optionalTime(in.Transferred); err != nil {
		return d, err
	}
	d.updated, _ = optionalTime(in.Updated) // only a restore report has it
	if len(in.Statuses) > maxStatuses || len(in.HostObjects)+len(in.HostAttrs) > maxHosts {
		return d, fmt.Errorf("it has %d statuses and %d name servers", len(in.Statuses), len(in.HostObjects)+len(in.HostAttrs))
	}
	for _, s := range in.Statuses {
		d.statuses = append(d.statuses, s.Value)
	}
	for _, g := range r.Ext.Grace {
		for _, s := range g.Statuses {
			if !d.has(s.Value) {
				d.statuses = append(d.statuses, s.Value)
			}
		}
	}
	d.addHosts(in)
	return d, d.addDS(r.Ext.DNSSEC)
}

// addHosts adds the name servers, and the hosts below the name.
func (d *domain) addHosts(in domainInfo) {
	for _, h := range in.HostObjects {
		d.hosts = append(d.hosts, hostName(h))
	}
	for _, h := range in.HostAttrs {
		d.hosts = append(d.hosts, hostName(h.Name))
		if addrs := h.addresses(); len(addrs) > 0 && lifecycle.Below(hostName(h.Name), d.name) {
			d.glue = append(d.glue, dnssec.Nameserver{Host: hostName(h.Name), Addresses: addrs})
		}
	}
	for _, h := range in.Below {
		d.below = append(d.below, hostName(h))
	}
	d.hosts, d.below = distinct(d.hosts), distinct(d.below)
}

// addDS adds the DS records, and those of keys.
func (d *domain) addDS(all []dsInfo) error {
	for _, x := range all {
		for _, k := range x.Keys {
			ds, err := dnssec.DSOfKey(d.name, k.Flags, k.Protocol, k.Algorithm, k.PublicKey)
			if err != nil {
				return err
			}
			d.keys++
			d.ds = append(d.ds, ds)
		}
		for _, ds := range x.DS {
			d.ds = append(d.ds, dnssec.DS{KeyTag: ds.KeyTag, Algorithm: ds.Algorithm, DigestType: ds.DigestType, Digest: strings.ToLower(strings.TrimSpace(ds.Digest))})
		}
	}
	d.ds = distinct(d.ds)
	return nil
}

func optionalTime(s string) (time.Time, error) {
	if strings.TrimSpace(s) == "" {
		return time.Time{}, nil
	}
	return parseTime(s)
}

package epptest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// price is the price of a year of a name that is not premium, and of a restore.
const price = "10.00"

func (s *Server) now() time.Time { return s.cfg.Registry.Now().UTC().Truncate(time.Second) }

// entry returns the name as the registry has it. It first renews it when that is due,
// and stores the code of a registration that was executed late. A name that was transferred
// is unlocked and keeps its code, until its new registrar changes that.
func (s *Server) entry(name deed.Name) (registry.Entry, bool) {
	now := s.now()
	e, err := s.cfg.Registry.Store.Entry(s.ctx, name, now)
	if err != nil {
		return e, false
	}
	s.mu.Lock()
	pw := s.auth[e.Reference]
	s.mu.Unlock()
	late := e.Reference != "" && e.AuthHash == "" && pw != ""
	due := s.cfg.AutoRenew && expired(e, now)
	if !late && !due {
		return e, true
	}
	err = s.cfg.Registry.Store.Change(s.ctx, name, now, func(held registry.Entry) (registry.Entry, error) {
		if late && held.AuthHash == "" {
			held.AuthHash = hash(pw)
			held.Locked = held.Locked && held.Moved.IsZero()
		}
		for due && expired(held, now) {
			s.mu.Lock()
			s.renewed[name] = renewal{held.Expires, held.Expires.AddDate(0, 0, held.GraceDays)}
			s.mu.Unlock()
			held.Expires = held.Expires.AddDate(1, 0, 0)
		}
		e = held
		return held, nil
	})
	return e, err == nil
}

// expired reports whether the name has expired and was not deleted, which leaves it
// without grace.
func expired(e registry.Entry, now time.Time) bool {
	return e.Reference != "" && e.GraceDays > 0 && !now.Before(e.Expires)
}

// A renewal is one that the registry made by itself.
type renewal struct{ from, grace time.Time }

// hash is how the embedded registry stores a code.
func hash(code string) string {
	if code == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

func parse(text string) (deed.Name, bool) {
	name, err := deed.ParseName(text)
	return name, err == nil
}

// statuses returns the statuses of a name: those of RFC 5731, and those of RFC 3915.
func (s *Server) statuses(e registry.Entry) (epp, rgp []string) {
	now := s.now()
	s.mu.Lock()
	restored, auto := s.restored[e.Name], s.renewed[e.Name]
	s.mu.Unlock()
	for _, status := range append(e.EPPStatus(now), s.extraOf(e.Name)...) {
		switch status {
		case "addPeriod", "transferPeriod", "autoRenewPeriod", "redemptionPeriod":
			rgp = append(rgp, status)
		default:
			epp = append(epp, status)
		}
	}
	if now.Before(auto.grace) && e.Phase(now) == lifecycle.PhaseActive {
		rgp = append(rgp, "autoRenewPeriod")
	}
	if e.Phase(now) != lifecycle.PhaseRedemption {
		return epp, rgp
	}
	switch restored {
	case "pending":
		rgp = []string{"pendingRestore"}
	case "done":
		epp = slices.DeleteFunc(epp, func(v string) bool { return v == "pendingDelete" || v == "serverHold" })
		rgp = nil
		if len(epp) == 0 {
			epp = []string{"ok"}
		}
	}
	return epp, rgp
}

func (s *Server) info(c *client, in *domain, _ added) answer {
	name, ok := parse(in.Name)
	if !ok {
		return answer{code: 2005}
	}
	s.mu.Lock()
	pending := s.pending[name] && s.waiting[name] == c.clID
	s.mu.Unlock()
	if pending {
		return answer{code: 1000, data: `<domain:infData xmlns:domain="` + nsDomain + `">` + element("domain:name", string(name)) +
			`<domain:status s="pendingCreate"/>` + element("domain:clID", c.clID) + element("domain:crDate", stamp(s.now())) + `</domain:infData>`}
	}
	e, ok := s.entry(name)
	switch {
	case !ok:
		return answer{}
	case !e.HeldAt(s.now()):
		return answer{code: 2303}
	case in.AuthInfo != nil && *in.AuthInfo != "" && hash(*in.AuthInfo) != e.AuthHash && clientOf(e.Account) != c.clID:
		return answer{code: 2202}
	}
	shows := !s.cfg.HideAuth && (clientOf(e.Account) == c.clID || in.AuthInfo != nil && *in.AuthInfo != "")
	data, ext := s.describe(e, shows, c)
	return answer{code: 1000, data: data, ext: ext}
}

// describe returns what info says about a name.
func (s *Server) describe(e registry.Entry, shows bool, c *client) (data, ext string) {
	var b strings.Builder
	epp, rgp := s.statuses(e)
	b.WriteString(`<domain:infData xmlns:domain="` + nsDomain + `">` + element("domain:name", strings.ToUpper(string(e.Name))) + element("domain:roid", "D1-TEST"))
	for _, status := range epp {
		fmt.Fprintf(&b, `<domain:status s="%s"/>`, status)
	}
	if e.Registrant != "" {
		b.WriteString(element("domain:registrant", e.Registrant))
	}
	if len(e.Nameservers) > 0 {
		b.WriteString("<domain:ns>")
		for _, h := range e.Nameservers {
			if s.cfg.HostAttr {
				b.WriteString("<domain:hostAttr>" + element("domain:hostName", h))
				for _, a := range e.Glue.Of(h) {
					b.WriteString(`<domain:hostAddr ip="v` + map[bool]string{true: "4", false: "6"}[a.Is4()] + `">` + a.String() + `</domain:hostAddr>`)
				}
				b.WriteString("</domain:hostAttr>")
			} else {
				b.WriteString(element("domain:hostObj", h))
			}
		}
		b.WriteString("</domain:ns>")
	}
	for _, h := range s.hostsBelow(e.Name) {
		b.WriteString(element("domain:host", h))
	}
	b.WriteString(element("domain:clID", clientOf(e.Account)) + element("domain:crID", clientOf(e.Account)) + element("domain:crDate", stamp(e.Created)) + element("domain:exDate", stamp(s.expiry(e))))
	if !e.Moved.IsZero() {
		b.WriteString(element("domain:trDate", stamp(e.Moved)))
	}
	s.mu.Lock()
	if pw := s.auth[e.Reference]; shows && hash(pw) == e.AuthHash && pw != "" {
		b.WriteString("<domain:authInfo>" + element("domain:pw", pw) + "</domain:authInfo>")
	}
	s.mu.Unlock()
	b.WriteString("</domain:infData>")
	if len(rgp) > 0 && c.exts[nsRGP] {
		ext += `<rgp:infData xmlns:rgp="` + nsRGP + `">`
		for _, status := range rgp {
			ext += fmt.Sprintf(`<rgp:rgpStatus s="%s"/>`, status)
		}
		ext += `</rgp:infData>`
	}
	if key := s.keyOf(e.Name); key != "" && c.exts[nsSecDNS] {
		ext += `<secDNS:infData xmlns:secDNS="` + nsSecDNS + `"><secDNS:keyData><secDNS:flags>257</secDNS:flags><secDNS:protocol>3</secDNS:protocol><secDNS:alg>13</secDNS:alg>` +
			element("secDNS:pubKey", key) + `</secDNS:keyData></secDNS:infData>`
	}
	if len(e.DS) > 0 && c.exts[nsSecDNS] {
		ext += `<secDNS:infData xmlns:secDNS="` + nsSecDNS + `">`
		for _, d := range e.DS {
			ext += fmt.Sprintf(`<secDNS:dsData><secDNS:keyTag>%d</secDNS:keyTag><secDNS:alg>%d</secDNS:alg><secDNS:digestType>%d</secDNS:digestType><secDNS:digest>%s</secDNS:digest></secDNS:dsData>`,
				d.KeyTag, d.Algorithm, d.DigestType, strings.ToUpper(d.Digest))
		}
		ext += `</secDNS:infData>`
	}
	return b.String(), ext
}

func (s *Server) check(c *client, in names, ext added) answer {
	var data, fees strings.Builder
	if ext.FeeCheck != nil && ext.FeeCheck.Currency == "" {
		return answer{} // as a registry did
	}
	for _, text := range in.Names {
		name, ok := parse(text)
		if !ok {
			return answer{code: 2005, reason: text} // one bad name fails them all
		}
		a, err := s.cfg.Registry.Available(s.ctx, name)
		if err != nil {
			return answer{}
		}
		avail, reason := "1", ""
		if !a.Available {
			avail, reason = "0", "<domain:reason>In use</domain:reason>"
			if a.Reason == "reserved" {
				reason = "<domain:reason>Reserved name</domain:reason>"
			}
		}
		fmt.Fprintf(&data, `<domain:cd><domain:name avail="%s">%s</domain:name>%s</domain:cd>`, avail, strings.ToUpper(string(name)), reason)
		s.writeFees(&fees, name, a, ext)
	}
	out := answer{code: 1000, data: `<domain:chkData xmlns:domain="` + nsDomain + `">` + data.String() + `</domain:chkData>`}
	if ext.FeeCheck != nil && c.exts[nsFee] {
		out.ext = `<fee:chkData xmlns:fee="` + nsFee + `">` + element("fee:currency", s.cfg.Currency) + fees.String() + `</fee:chkData>`
	}
	return out
}

// writeFees writes the prices of a name. One that is taken has none.
func (s *Server) writeFees(b *strings.Builder, name deed.Name, a registrar.Availability, ext added) {
	if ext.FeeCheck == nil {
		return
	}
	class := "standard"
	if a.Premium {
		class = "premium"
	}
	tooShort := func(q feeCommand) bool { return q.Period != nil && q.Period.Years < s.cfg.MinYears }
	if slices.ContainsFunc(ext.FeeCheck.Commands, tooShort) { // RFC 8748, 5.1.1
		fmt.Fprintf(b, `<fee:cd avail="0">%s<fee:reason>Invalid period</fee:reason></fee:cd>`, element("fee:objID", string(name)))
		return
	}
	fmt.Fprintf(b, `<fee:cd avail="1">%s%s`, element("fee:objID", string(name)), element("fee:class", class))
	for _, q := range ext.FeeCheck.Commands {
		years := 1
		if q.Period != nil {
			years = q.Period.Years
		}
		amount, _ := deed.ParseUSDC(price)
		amount *= deed.USDC(years)
		switch {
		case q.Name == "create" && !a.Available:
			fmt.Fprintf(b, `<fee:command name="create"><fee:reason>In use</fee:reason></fee:command>`)
			continue
		case q.Name == "create" && a.Premium:
			amount = a.Wholesale + a.Renewal*deed.USDC(years-1)
		case a.Premium:
			amount = a.Renewal * deed.USDC(years)
		}
		fmt.Fprintf(b, `<fee:command name="%s"><fee:period unit="y">%d</fee:period><fee:fee refundable="1">%s</fee:fee></fee:command>`, q.Name, years, amount)
	}
	b.WriteString(`</fee:cd>`)
}

// orderAnswer returns the response to an order that failed.
func orderAnswer(err error, kind registrar.OrderKind) answer {
	switch deed.CodeOf(err) {
	case deed.CodeDomainUnavailable:
		if strings.Contains(err.Error(), "reserved") {
			return answer{code: 2306, reason: "reserved"}
		}
		return answer{code: 2302}
	case deed.CodeNotFound:
		return answer{code: 2303}
	case deed.CodeValidation:
		if kind == registrar.OrderTransfer {
			return answer{code: 2202}
		}
		return answer{code: 2306}
	case deed.CodeRegistrationFailed:
		return answer{code: map[registrar.OrderKind]int{registrar.OrderRegister: 2304, registrar.OrderRenew: 2105, registrar.OrderTransfer: 2106}[kind]}
	}
	return answer{} // it failed, or is late: a closed connection
}

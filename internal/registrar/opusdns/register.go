package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A registerRequest orders a new name. It is not renewed automatically: the service
// orders each renewal itself.
type registerRequest struct {
	Name          string            `json:"name"`
	Period        period            `json:"period"`
	Contacts      map[string]string `json:"contacts"`
	Nameservers   []nameserver      `json:"nameservers,omitempty"`
	RenewalMode   string            `json:"renewal_mode"`
	CreateZone    bool              `json:"create_zone"`
	Code          string            `json:"auth_code,omitempty"`
	ExpectedPrice string            `json:"expected_price,omitempty"`
}

// register orders a new name.
func (b *Backend) register(ctx context.Context, o registrar.Order) error {
	in, err := b.registration(ctx, o)
	if err != nil {
		return err
	}
	var reply domainReply
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: "/v1/domains", in: in}, &reply)
	if err == nil {
		return b.accepted(ctx, o.Name, reply)
	}
	p := refusal(err)
	if p == nil {
		return b.unknown("register "+string(o.Name), err)
	}
	if done, lookupErr := b.executed(ctx, o); lookupErr != nil || done {
		return lookupErr
	}
	if p.is(codeDomainExists) {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is taken", o.Name)
	}
	if c, checkErr := b.check(ctx, orderLane, o.Name); checkErr == nil && !c.available {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is not available", o.Name)
	}
	return refused(o, p)
}

// refused returns the error of an order that the vendor refuses permanently.
func refused(o registrar.Order, p *problem) error {
	return &deed.Error{Code: deed.CodeRegistrationFailed, Message: fmt.Sprintf("the registrar refuses the order for %s", o.Name), Err: p}
}

// registration returns the request for a new name.
func (b *Backend) registration(ctx context.Context, o registrar.Order) (registerRequest, error) {
	in := registerRequest{Name: string(o.Name), Period: years(o.Years), RenewalMode: "expire"}
	if len(o.Nameservers) > 0 {
		hosts, err := deed.ParseNameservers(o.Nameservers)
		if err != nil {
			return in, err
		}
		in.Nameservers = nameservers(hosts)
	}
	rules, err := b.tldRules(ctx, o.Name.TLD())
	if err != nil {
		return in, err
	}
	if !sells(rules.RegisterYears, o.Years) {
		return in, deed.Errorf(deed.CodeRegistrationFailed, "%s cannot be registered for %d years at once", o.Name, o.Years)
	}
	in.Code = b.orderCode(o, rules).Reveal()
	if in.Contacts, err = b.contacts(ctx, rules.roles); err != nil {
		return in, err
	}
	p, premium, err := b.agreedPremium(ctx, o)
	if err != nil || !premium {
		return in, err
	}
	if p.total(o) == 0 { // it may be taken, also by this order
		return in, fmt.Errorf("register %s: the vendor does not tell its price", o.Name)
	}
	if in.ExpectedPrice, err = formatPrice(p.total(o)); err != nil {
		return in, deed.Errorf(deed.CodeRegistrationFailed, "%s: %v", o.Name, err)
	}
	return in, nil
}

// agreedPremium returns the prices of a premium name that may be confirmed for the
// order: what the vendor says now, up to what the buyer has agreed to.
func (b *Backend) agreedPremium(ctx context.Context, o registrar.Order) (p premium, ok bool, err error) {
	if o.MaxCost == 0 {
		return p, false, nil // it was not sold as a premium name
	}
	c, err := b.check(ctx, orderLane, o.Name)
	if err != nil || c.premium == nil {
		return p, false, err
	}
	if total := c.premium.total(o); total > o.MaxCost {
		return p, false, deed.Errorf(deed.CodeRegistrationFailed, "%s costs %s by now, which is more than was agreed on", o.Name, total)
	}
	return *c.premium, true, nil
}

// contacts returns the contacts of a name: the registrant in each role.
func (b *Backend) contacts(ctx context.Context, roles []string) (map[string]string, error) {
	id, err := b.registrant(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, role := range roles {
		all[role] = id
	}
	return all, nil
}

func nameservers(hosts []string) (all []nameserver) {
	for _, h := range hosts {
		all = append(all, nameserver{Hostname: h})
	}
	return all
}

// lockTimeout bounds the requests that lock a new name.
const lockTimeout = 5 * time.Second

// accepted checks the reply to an order, and locks the name: the vendor's names are
// not locked at first. The order is done whether or not that works, and the owner sees
// the lock as it is.
func (b *Backend) accepted(ctx context.Context, name deed.Name, reply domainReply) error {
	d, err := parseDomain(reply)
	if err != nil || d.name != name {
		b.warn(warnReplies, "the reply to an order cannot be read")
		return fmt.Errorf("order %s: the reply is about %s: %w", name, deed.Quoted(reply.Name), orOther(err))
	}
	if d.inAccount() && !d.locked && !d.has("pendingTransfer") {
		ctx, cancel := context.WithTimeout(ctx, lockTimeout)
		defer cancel()
		_ = b.setStatus(ctx, name, transferLock, true) // see above
	}
	return nil
}

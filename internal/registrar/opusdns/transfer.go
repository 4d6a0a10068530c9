package opusdns

import (
	"context"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// The lengths of an auth code that the vendor takes.
const (
	minCode = 6
	maxCode = 32
)

// A transferRequest orders a transfer from another registrar. The registry decides
// how long it renews the name, which keeps its name servers: it may have a DS.
type transferRequest struct {
	Name        string            `json:"name"`
	Code        string            `json:"auth_code"`
	Contacts    map[string]string `json:"contacts"`
	RenewalMode string            `json:"renewal_mode"`
	CreateZone  bool              `json:"create_zone"`
}

// Transferable implements registrar.Registrar. The vendor can only be asked whether
// the name is registered: a wrong code, or a lock, is found out by the order.
func (b *Backend) Transferable(ctx context.Context, name deed.Name, code deed.Secret) error {
	_, err := b.domain(ctx, readLane, name)
	if err == nil {
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is already in this account", name)
	}
	if deed.CodeOf(err) != deed.CodeNotFound {
		return err
	}
	c, err := b.check(ctx, readLane, name)
	switch {
	case err != nil:
		return err
	case c.available:
		return notRegistered(name)
	case c.reserved:
		return deed.Errorf(deed.CodeDomainUnavailable, "%s is reserved", name)
	case c.premium != nil:
		return deed.Invalid("domain", "%s has a price of its own, and cannot be transferred here", name)
	}
	return checkCode(name, code)
}

func checkCode(name deed.Name, code deed.Secret) error {
	if len(code) < minCode || len(code) > maxCode {
		return deed.Invalid("authCode", "is not the code of %s: it has %d to %d characters", name, minCode, maxCode)
	}
	return nil
}

func notRegistered(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not registered: register it instead", name)
}

// transfer orders a transfer.
func (b *Backend) transfer(ctx context.Context, o registrar.Order) error {
	if checkCode(o.Name, o.AuthCode) != nil {
		return b.transferWithoutCode(ctx, o)
	}
	in := transferRequest{Name: string(o.Name), Code: o.AuthCode.Reveal(), RenewalMode: "expire"}
	rules, err := b.tldRules(ctx, o.Name.TLD())
	if err != nil {
		return err
	}
	if in.Contacts, err = b.contacts(ctx, rules.transferRoles); err != nil {
		return err
	}
	var reply domainReply
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: "/v1/domains/transfer", in: in}, &reply)
	if err == nil {
		return b.accepted(ctx, o.Name, reply)
	}
	p := refusal(err)
	if p == nil {
		return b.unknown("transfer "+string(o.Name), err)
	}
	return b.notTransferred(ctx, o, p)
}

// transferWithoutCode returns why a transfer fails whose code cannot be one.
func (b *Backend) transferWithoutCode(ctx context.Context, o registrar.Order) error {
	switch err := b.Transferable(ctx, o.Name, o.AuthCode); deed.CodeOf(err) {
	case deed.CodeDomainUnavailable:
		return deed.Errorf(deed.CodeRegistrationFailed, "%s is reserved, or already in this account", o.Name)
	default:
		return err
	}
}

// notTransferred returns the outcome of a transfer that was refused.
func (b *Backend) notTransferred(ctx context.Context, o registrar.Order, p *problem) error {
	if done, err := b.executed(ctx, o); err != nil || done {
		return err
	}
	switch {
	case p.is(codeInvalidAuthCode, codeMalformedCode):
		return deed.Invalid("authCode", "is not the code of %s", o.Name)
	case p.is(codeDomainExists, codeAlreadyOwned):
		return refused(o, p)
	}
	if c, err := b.check(ctx, orderLane, o.Name); err == nil && c.available {
		return notRegistered(o.Name)
	}
	return refused(o, p)
}

// DecideTransfer implements registrar.TransferDecider.
func (b *Backend) DecideTransfer(ctx context.Context, name deed.Name, approve bool) error {
	d, err := b.domain(ctx, orderLane, name)
	if err != nil {
		return err
	}
	if !d.has("pendingTransfer") {
		return deed.Errorf(deed.CodeNotFound, "no transfer of %s is pending", name)
	}
	in := map[string]string{"action": "reject"}
	if approve {
		in["action"] = "approve"
	}
	err = b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: domainPath(name) + "/transfer/outbound", in: in}, nil)
	if err != nil {
		return b.changeError("decide the transfer of", name, err)
	}
	if approve {
		return nil
	}
	_, err = b.AuthCode(ctx, name) // whoever has the old one would ask again
	return err
}

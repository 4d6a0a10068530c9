package epp

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

type transferData struct {
	Name      string `xml:"name"`
	Status    string `xml:"trStatus"`
	Requester string `xml:"reID"`
	Requested string `xml:"reDate"`
	Acted     string `xml:"acDate"`
}

// The states of a transfer (RFC 5730, 2.9.3.4).
const (
	transferPending  = "pending"
	transferApproved = "Approved" // by the client or the server
)

var transferStates = []string{transferPending, "clientApproved", "clientCancelled", "clientRejected", "serverApproved", "serverCancelled"}

// transfer requests a transfer to our account.
func (b *Backend) transfer(ctx context.Context, o registrar.Order) error {
	fee, err := b.premiumFee(ctx, o)
	if err != nil {
		return err
	}
	request := transferCommand(o, "request")
	request.ext = func(w *writer, svc services) { b.writeFee(w, svc, "transfer", fee) }
	r, err := b.send(ctx, request)
	if err != nil {
		return err
	}
	b.noteBalance(r)
	if !succeeded(r) {
		return b.afterRefusal(ctx, o, r)
	}
	for _, t := range r.Data.Transfers {
		if !sameName(t.Name, o.Name) {
			return b.invalidReply("a transfer of %s instead of %s", deed.Quoted(t.Name), o.Name)
		}
	}
	return nil
}

func transferCommand(o registrar.Order, op string) command {
	return command{reference: o.Reference, body: func(w *writer, _ services) {
		w.element("transfer", func() {
			w.object("domain", "transfer", nsDomain, func() {
				w.text("domain:name", string(o.Name))
				if op == "request" {
					w.number("domain:period", o.Years, "unit", "y")
				}
				writeCode(w, o.AuthCode)
			})
		}, "op", op)
	}}
}

// A transferState is what the registry says about the last transfer of a name.
type transferState struct {
	status    string
	ours      bool      // we requested it
	requested time.Time // zero when the registry does not say
}

// queryTransfer returns the state of the last transfer; the zero state when the
// registry does not tell, because there was none or we are not part of it.
func (b *Backend) queryTransfer(ctx context.Context, o registrar.Order) (transferState, error) {
	r, err := b.send(ctx, transferCommand(o, "query"))
	switch {
	case err != nil:
		return transferState{}, err
	case unknown(r.code()) && !succeeded(r):
		return transferState{}, resultError(r)
	case !succeeded(r):
		return transferState{}, nil
	case len(r.Data.Transfers) != 1 || !sameName(r.Data.Transfers[0].Name, o.Name):
		return transferState{}, b.invalidReply("a transfer query for %s is about something else", o.Name)
	}
	t := r.Data.Transfers[0]
	requested, err := optionalTime(t.Requested)
	if err != nil {
		return transferState{}, b.invalidReply("transfer query for %s: %w", o.Name, err)
	}
	return transferState{status: strings.TrimSpace(t.Status), ours: b.isUs(strings.TrimSpace(t.Requester)), requested: requested}, nil
}

// since reports whether something happened during the order, by the registry's clock.
func since(at time.Time, o registrar.Order) bool { return !at.Before(o.Submitted.Add(-maxSkew)) }

// lookUpTransfer returns the state of a transfer to our account.
func (b *Backend) lookUpTransfer(ctx context.Context, o registrar.Order) (registrar.OrderStatus, error) {
	absent := registrar.OrderStatus{State: registrar.OrderAbsent}
	t, err := b.queryTransfer(ctx, o)
	switch {
	case err != nil:
		return absent, err
	case t.status == transferPending && t.ours:
		return registrar.OrderStatus{State: registrar.OrderPending}, nil
	case t.status == transferPending:
		return absent, nil
	case t.ours && t.status != "" && !slices.Contains(transferStates, t.status):
		return absent, b.invalidReply("a transfer of %s has the status %s", o.Name, deed.Quoted(t.status))
	case t.ours && t.status != "" && !strings.HasSuffix(t.status, transferApproved) && since(t.requested, o):
		absent.Refusal = deed.CodeRegistrationFailed // it was rejected or cancelled
		return absent, nil
	}
	d, err := b.held(ctx, o.Name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return absent, nil
	case err != nil:
		return absent, uncoded(err)
	case !b.cameWith(d, t, o):
		return absent, nil // it was in our account before
	case d.created.IsZero() || d.expires.IsZero():
		return absent, b.invalidReply("%s came to us and has no dates", o.Name)
	}
	b.release(ctx, d)
	b.protect(ctx, d, o.AuthCode)
	return registrar.OrderStatus{State: registrar.OrderDone, Created: d.created, Expires: d.expires}, nil
}

// cameWith reports whether a name in our account came with the order. Not every
// registry shows the date of the last transfer.
func (b *Backend) cameWith(d domain, t transferState, o registrar.Order) bool {
	if !d.transferred.IsZero() {
		return since(d.transferred, o)
	}
	approved := t.ours && strings.HasSuffix(t.status, transferApproved) && (t.requested.IsZero() || since(t.requested, o))
	return approved || d.creator != "" && !b.isUs(d.creator)
}

// holderStatuses are the statuses that the last holder of a name may have set, beside the lock.
// They may stay after the transfer, and only we can remove them (RFC 5731, 2.3). The first
// prohibits every update but its own removal.
var holderStatuses = []string{"clientUpdateProhibited", "clientDeleteProhibited", "clientHold", "clientRenewProhibited"}

// release removes what the last holder has set from a name that came to us, so that its owner
// can change and renew it, and it resolves. If that fails, the name is delivered nevertheless.
func (b *Backend) release(ctx context.Context, d domain) {
	for _, status := range holderStatuses {
		if !d.has(status) {
			continue
		}
		r, err := b.send(ctx, b.updateCommand(d.name, update{remStatus: []string{status}}))
		if err == nil && !succeeded(r) {
			err = resultError(r)
		}
		if err != nil {
			b.cfg.Log.Warn("a name that was transferred to us keeps a status of its last registrar: remove it at the registry", "domain", d.name, "status", status, "err", err.Error())
		}
	}
}

// protect locks a name that came to us, and replaces the code that its last holder knows, so
// that it cannot be transferred away with it. A code that the registry does not show may be
// that one; a registry with RFC 9154 has removed it.
func (b *Backend) protect(ctx context.Context, d domain, used deed.Secret) {
	m, err := b.services(ctx)
	removed := err == nil && m.secure()
	if d.authInfo == "" && !removed || d.authInfo != "" && d.authInfo == used {
		b.rotate(ctx, d.name)
	}
	b.lockNew(ctx, d)
}

// rotate replaces the code of a name. If that fails, the next code that the owner
// asks for replaces it.
func (b *Backend) rotate(ctx context.Context, name deed.Name) {
	if _, err := b.AuthCode(ctx, name); err != nil {
		b.cfg.Log.Warn("a used code could not be replaced", "domain", name, "err", err.Error())
	}
}

// cancelTransfer cancels our request.
func (b *Backend) cancelTransfer(ctx context.Context, o registrar.Order) error {
	r, err := b.send(ctx, transferCommand(o, "cancel"))
	switch {
	case err != nil:
		return err
	case succeeded(r):
		return nil
	case unknown(r.code()):
		return b.refused(r, string(o.Name), beforeMoney)
	}
	t, err := b.queryTransfer(ctx, o)
	switch {
	case err != nil:
		return err
	case t.ours && t.status == "clientCancelled" && since(t.requested, o):
		return nil // an earlier reply was lost
	case t.ours && t.status == transferPending:
		return b.refused(r, string(o.Name), beforeMoney)
	}
	return deed.Errorf(deed.CodeNotFound, "no transfer of %s to this account is pending", o.Name)
}

// DecideTransfer implements registrar.TransferDecider.
func (b *Backend) DecideTransfer(ctx context.Context, name deed.Name, approve bool) error {
	op := "reject"
	if approve {
		op = "approve"
	}
	r, err := b.send(ctx, transferCommand(registrar.Order{Name: name}, op))
	switch {
	case err != nil:
		return fmt.Errorf("%s the transfer of %s: %w", op, name, err)
	case r.code() == codeNoTransfer:
		return deed.Errorf(deed.CodeNotFound, "no transfer of %s is pending", name)
	case !succeeded(r):
		return b.refused(r, string(name), beforeMoney)
	}
	if !approve {
		b.rotate(ctx, name) // the other registrar knows it
	}
	return nil
}

// AuthCode implements registrar.Manager.
func (b *Backend) AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // it never fails
	code := formatCode(random[:])
	err := b.change(ctx, name, func(d domain) (update, error) {
		if d.authInfo == code {
			return update{}, nil
		}
		return update{code: code}, nil
	})
	if err != nil {
		return "", err
	}
	return code, nil
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A request is one that a client made and may repeat.
type request struct {
	order.Request
	auth settle.Authorization
}

// ask sends a request: a new one, one again, or a payment for another name. Its
// payer may be signed in.
func (w *world) ask(p *process) {
	r := w.request()
	signedIn := deed.Wallet("")
	if w.rng.IntN(2) == 0 {
		signedIn = r.auth.Payer
	}
	w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
	w.send(p, r, signedIn)
}

// send sends the request to a process, and checks what it answers.
func (w *world) send(p *process, r *request, signedIn deed.Wallet) {
	p.do(fmt.Sprintf("%q asks for %s of %s, %d years, with %s", signedIn, r.Kind, r.Name, r.Years, id(r.auth)), func(ctx context.Context) {
		before := w.chain.final()
		out, err := p.pay.Buy(ctx, r.Request, p.pay.Checkout(&r.auth, signedIn, false))
		var bought lifecycle.Registration
		if err == nil && out.Job.State == order.JobCompleted {
			bought, err = p.names.Result(ctx, out.Job)
		}
		w.tell("%d: answer: job %s is %s, %v", p.id, out.Job.ID, out.Job.State, err)
		if w.broken == nil {
			w.broken = w.answered(r, out, bought, err)
		}
		if w.broken == nil && offered(out, err) && out.Quote.Amount == r.auth.Amount {
			w.broken = w.askedAgain(r.auth, before)
		}
	})
}

// offered says whether a client is asked to pay.
func offered(out order.Outcome, err error) bool {
	return settle.Refused(err) && !errors.Is(err, order.ErrNoOffer) && out.Quote.Amount > 0
}

// askedAgain fails when the money of the authorization was ours before: its payer
// must not be asked to pay again. Money that comes after the payment has ended
// goes back as soon as it is found.
func (w *world) askedAgain(a settle.Authorization, before *block) error {
	p, err := w.payment(id(a))
	ended := err == nil && (p.State.EndedUnpaid() || p.State.Refunds())
	if before.used[keyOf(a)].pays(a) && len(before.refunds[keyOf(a)]) == 0 && !ended {
		return fmt.Errorf("%s was asked to pay again after it paid", id(a))
	}
	return nil
}

// wish is what a payer wants, as far as anybody else would want another thing.
func wish(kind order.PurchaseKind, name deed.Name) string { return string(kind) + " " + string(name) }

func (w *world) request() *request {
	if n := len(w.requests); n > 0 && (n >= 16 || w.rng.IntN(2) == 0) {
		r := *w.requests[w.rng.IntN(n)]
		if w.rng.IntN(6) == 0 {
			r.Name = w.anyName()
		}
		return &r
	}
	wanted, payer := w.order(), w.buyers[w.rng.IntN(len(w.buyers))]
	if n := len(w.requests); n > 0 && w.rng.IntN(4) == 0 { // signs anew for what was asked for before
		last := w.requests[w.rng.IntN(n)]
		payer, wanted = last.auth.Payer, last.Request
	}
	return w.sign(payer, wanted)
}

// sign makes a new request.
func (w *world) sign(payer deed.Wallet, o order.Request) *request {
	r := &request{Request: o}
	r.Payer = payer
	r.auth = settle.Authorization{Payer: payer, PayTo: w.payTo, Amount: w.offer(o), Nonce: w.nonce(), Signature: []byte{1}}
	r.auth.ValidBefore = w.chain.now().Add([]time.Duration{time.Minute, 5 * time.Minute, time.Hour}[w.rng.IntN(3)]).Unix()
	if w.fault(12) {
		r.auth.Amount--
	}
	if w.fault(20) {
		r.auth.PayTo = treasuries[w.rng.IntN(len(treasuries))]
	}
	w.requests = append(w.requests, r)
	w.signed = append(w.signed, r.auth)
	return r
}

// nonce is one that nobody has used.
func (w *world) nonce() string { return fmt.Sprintf("0x%064x", len(w.signed)+1) }

// order is what somebody may want: more years for a name that is ours, a name
// that is elsewhere, or else a new one. Who renews is seldom alone.
func (w *world) order() order.Request {
	name := w.anyName()
	if last := w.lastRenewal(); last != "" && w.rng.IntN(3) > 0 {
		name = last
	}
	switch e := w.registry.entries[name]; {
	case w.registry.ours(name):
		o := order.Request{Purchase: order.Purchase{Kind: order.PurchaseRenewal, Name: name, Years: 1 + w.rng.IntN(2)}}
		if w.rng.IntN(3) == 0 {
			o.From = e.Expires
		}
		return o
	case slices.Contains(w.away, name):
		return order.Request{Purchase: order.Purchase{Kind: order.PurchaseTransfer, Name: name, Years: 1, AuthCode: code}}
	}
	return order.Request{Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: name, Years: 1}}
}

// lastRenewal is the name that somebody wanted to renew just now, or "".
func (w *world) lastRenewal() deed.Name {
	for _, r := range slices.Backward(w.requests[max(0, len(w.requests)-4):]) {
		if r.Kind == order.PurchaseRenewal {
			return r.Name
		}
	}
	return ""
}

// offer is what a client was told that its order costs.
func (w *world) offer(o order.Request) deed.USDC {
	restore := w.registry.entries[o.Name].Phase(w.registry.now()) == lifecycle.PhaseRedemption
	amount := cost(order.Purchase{Kind: o.Kind, Name: o.Name, Years: o.Years, Facts: order.PurchaseFacts{Restore: restore}})
	if w.mandates != nil && o.Kind == order.PurchaseRenewal {
		amount += w.mandates.raise() * deed.USDC(o.Years)
	}
	return amount
}

func id(a settle.Authorization) string { return a.PaymentID(chainID, asset) }

// answered checks what a client is told. It is told of one job for ever, and
// never to pay again while its money may still buy what it was given for.
func (w *world) answered(r *request, out order.Outcome, bought lifecycle.Registration, err error) error {
	key := id(r.auth)
	if deed.CodeOf(err) == deed.CodeNotFound && r.Kind == order.PurchaseRegistration {
		return fmt.Errorf("%s was told that something is not there: %w", key, err)
	}
	if err == nil && out.Job.ID != "" {
		if told := w.jobs[key]; told != "" && told != out.Job.ID {
			return fmt.Errorf("%s was told of %s, and then of %s", key, told, out.Job.ID)
		}
		w.jobs[key] = out.Job.ID
		if out.Job.Owner != r.auth.Payer || out.Job.Purchase.Name != r.Name || out.Job.Purchase.Kind != r.Kind {
			return fmt.Errorf("%s was told of the job of another: %+v", key, out.Job)
		}
	}
	if offered(out, err) {
		known, err := w.payment(key)
		if err == nil && slices.Contains([]order.PaymentState{order.PaymentAuthorized, order.PaymentSettling, order.PaymentSettled, order.PaymentConsumed}, known.State) && known.AliasOf == "" {
			return fmt.Errorf("%s was asked to pay again while its payment is %s", key, known.State)
		}
	}
	// It may have been handed over since it was read.
	own := r.Kind == order.PurchaseRenewal || bought.Owner == r.auth.Payer || bought.Owner == w.owner(bought.Reference, r.auth.Payer)
	if err == nil && out.Job.State == order.JobCompleted && (!own || bought.Name != r.Name) {
		return fmt.Errorf("%s was told that it bought %+v", key, bought)
	}
	return nil
}

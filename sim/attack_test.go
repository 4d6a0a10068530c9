package sim

import (
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// promiser is a wallet that signs more than it pays.
const promiser deed.Wallet = "0x0000000000000000000000000000000000000009"

// attack is what payers and strangers do by themselves, on the chain and to us,
// and what operators do meanwhile.
func (w *world) attack(p *process) {
	switch w.rng.IntN(14) {
	case 0, 1, 2:
		w.interfere()
	case 3:
		w.sendNothing()
	case 4, 5, 6:
		w.promise(p)
	case 7, 8:
		w.payFirst(p)
	case 9:
		w.stealAny(p)
	case 10:
		w.displace()
	case 11:
		if w.rng.IntN(4) == 0 && !w.restored {
			w.chain.strange(transaction{kind: fat})
		}
	case 12:
		w.configure(p)
	case 13:
		if w.outside == nil && w.mandates == nil { // the outside registry has no list of what was bought since
			w.backUp()
		}
	}
}

// interfere is what somebody does with an authorization that was signed for us.
func (w *world) interfere() {
	if len(w.signed) == 0 {
		return
	}
	a := w.signed[w.rng.IntN(len(w.signed))]
	t := transaction{kind: transfer, auth: a}
	switch w.rng.IntN(6) {
	case 0:
		t.kind = cancel
	case 1:
		t.kind, t.from, t.to, t.amount = move, a.Payer, elsewhere, w.chain.head().balance[a.Payer]/2
	case 2: // the payer signs the same nonce again
		t.auth.ValidBefore = w.chain.now().Add(time.Hour).Unix()
		if w.rng.IntN(2) == 0 {
			t.auth.Amount = price / 2
		}
	}
	w.chain.strange(t)
}

// sendNothing is a payer who sends nothing, or dust, by authorization.
func (w *world) sendNothing() {
	a := settle.Authorization{Payer: w.buyers[w.rng.IntN(len(w.buyers))], PayTo: treasuries[w.rng.IntN(len(treasuries))], Nonce: w.nonce(), Signature: []byte{1}}
	a.ValidBefore = w.chain.now().Add(time.Hour).Unix()
	if w.rng.IntN(3) > 0 {
		a.Amount = deed.USDC(1 + w.rng.IntN(int(terms().Dust)+20_000))
	}
	w.signed = append(w.signed, a)
	w.chain.strange(transaction{kind: transfer, auth: a})
}

// promise is a payer who promises the same money many times, has it elsewhere by
// then or does not let it go, and pays when nobody waits for it any more.
func (w *world) promise(p *process) {
	balance := w.chain.head().balance[promiser]
	w.refuses = w.rng.IntN(3) == 0
	switch n := w.rng.IntN(6); {
	case n < 3:
		if balance < price {
			w.chain.strange(transaction{kind: move, from: faucet, to: promiser, amount: 9 * price})
			w.tick(2 * time.Second)
			w.chain.mine()
		}
		for range 1 + w.rng.IntN(7) {
			what := order.Request{Purchase: order.Purchase{Kind: order.PurchaseRegistration, Name: w.anyName(), Years: 1}}
			if w.rng.IntN(2) == 0 {
				what = w.order() // anybody may renew any name, so there is more to promise than names to take
			}
			r := w.sign(promiser, what)
			w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
			w.send(p, r, "")
		}
		fallthrough
	case n == 3:
		w.chain.strange(transaction{kind: move, from: promiser, to: elsewhere, amount: w.chain.head().balance[promiser]})
		w.chain.mine()
	case n == 4:
		w.chain.strange(transaction{kind: move, from: faucet, to: promiser, amount: 5 * price})
	default:
		for _, a := range w.signed {
			if a.Payer == promiser && w.rng.IntN(3) == 0 {
				w.chain.strange(transaction{kind: transfer, auth: a})
			}
		}
	}
}

// refill is a payer who has the money again, just after a process found that it
// has not, or gave the payment up; another process tries once more. It is not a fault,
// so it also happens when nothing fails any more, which is when most payments are given
// up.
func (w *world) refill(p *process, a settle.Authorization) {
	if w.nested >= 2 || w.rng.IntN(3) == 0 {
		return
	}
	w.nested++
	w.refuses = false
	w.chain.strange(transaction{kind: move, from: faucet, to: a.Payer, amount: a.Amount})
	w.chain.mine()
	w.advance(w.procs[1-p.id], []string{id(a)})
	w.nested--
}

// payFirst is a payer whose authorization is on the chain before we get it. Others
// may have read it there, and be faster.
func (w *world) payFirst(p *process) {
	r := w.sign(w.buyers[w.rng.IntN(len(w.buyers))], w.order())
	w.chain.strange(transaction{kind: transfer, auth: r.auth})
	for range w.rng.IntN(3 * depth) {
		w.tick(2 * time.Second)
		w.chain.mine()
	}
	if w.rng.IntN(3) == 0 {
		w.steal(p, r.auth)
	}
	w.wishes[id(r.auth)] = append(w.wishes[id(r.auth)], wish(r.Kind, r.Name))
	if w.rng.IntN(3) > 0 {
		w.send(p, r, []deed.Wallet{"", r.auth.Payer}[w.rng.IntN(2)])
	}
}

// stealAny is a stranger who looks for an authorization that can be used.
func (w *world) stealAny(p *process) {
	for _, a := range w.signed {
		if w.rng.IntN(3) == 0 {
			w.steal(p, a)
		}
	}
}

// steal is a stranger who reads an authorization from the chain, and asks for
// something with it that its payer does not want.
func (w *world) steal(p *process, a settle.Authorization) {
	if u := w.chain.final().used[keyOf(a)]; !u.pays(a) {
		return
	}
	for range 4 {
		r, who := &request{Request: w.order(), auth: a}, w.buyers[w.rng.IntN(len(w.buyers))]
		if w.offer(r.Request) == a.Amount && who != a.Payer && !slices.Contains(w.wishes[id(a)], wish(r.Kind, r.Name)) {
			w.send(p, r, who)
			return
		}
	}
}

// displace is a transaction from one of our wallets that was signed elsewhere.
func (w *world) displace() {
	for _, t := range w.chain.pool {
		if t.ours && w.rng.IntN(2) == 0 {
			w.chain.strange(transaction{kind: foreign, of: t.hash})
			return
		}
	}
}

// configure changes where we are paid, and starts a process again with it.
func (w *world) configure(p *process) {
	if w.rng.IntN(2) == 0 {
		w.payTo = treasuries[w.rng.IntN(len(treasuries))]
	}
	p.stop()
	w.tell("%d: is paid to %s from now on", p.id, p.payTo)
}

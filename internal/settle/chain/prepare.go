package chain

import (
	"context"
	"maps"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"deed.example/deed/internal/settle"
)

// A preparation reads in the background what a round needs to sign for payments that are
// new to this process.
type preparation struct {
	done chan struct{} // closed when the reads have ended; nil if there are none
	have prepared
}

// prepared is what a preparation has read. Nothing of it depends on another.
type prepared struct {
	sent     map[string][]settle.Transaction // by purpose
	purposes map[string]bool                 // that sent was read for
	next     uint64                          // the next nonce of the signer, as the store has it; 0: unknown
	code     map[common.Address]bool         // which payers have code
	mined    uint64                          // transactions of the signer in the newest block
	counted  bool                            // mined was read
}

// prepare begins to read what the new payments among the waits need.
func (l *lane) prepare(ctx context.Context, waits []*wait) *preparation {
	p := &preparation{}
	var purposes []string
	var payers []common.Address
	for _, w := range waits {
		if w.refund.PaymentID == "" && w.seen == (common.Hash{}) && w.own.Hash == "" {
			purposes, payers = append(purposes, w.purpose), append(payers, w.auth.from)
		}
	}
	if len(purposes) > 0 {
		p.done = make(chan struct{})
		go func() {
			defer close(p.done)
			// What could not be read is read again when it is needed, which returns the error.
			if have, err := l.readForNew(ctx, purposes, payers); err == nil {
				p.have = have
			}
		}()
	}
	return p
}

// readForNew reads what new payments of these payers need.
func (l *lane) readForNew(ctx context.Context, purposes []string, payers []common.Address) (p prepared, err error) {
	var sent settle.Sent
	var code []bool
	from := l.address()
	reads, ctx := errgroup.WithContext(ctx)
	reads.Go(func() (err error) { sent, err = l.s.Store.Sent(ctx, walletAt(from), purposes); return err })
	reads.Go(func() (err error) { code, err = l.c.hasCode(ctx, payers); return err })
	reads.Go(func() (err error) { p.mined, err = l.c.count(ctx, from, "latest"); return err })
	if err := reads.Wait(); err != nil {
		return p, err
	}
	p.sent, p.next, p.counted = sent.For, sent.Next, true
	p.purposes, p.code = map[string]bool{}, map[common.Address]bool{}
	for _, purpose := range purposes {
		p.purposes[purpose] = true
	}
	for i, payer := range payers {
		p.code[payer] = code[i]
	}
	return p, nil
}

// ready waits for the reads and returns what they have read.
func (p *preparation) ready() prepared {
	if p.done != nil {
		<-p.done
	}
	return p.have
}

// readSent returns the transactions for the waits, by purpose.
func (l *lane) readSent(ctx context.Context, waits []*wait) (map[string][]settle.Transaction, error) {
	known := l.current.prepared.ready()
	var purposes []string
	for _, w := range waits {
		if !known.purposes[w.purpose] {
			purposes = append(purposes, w.purpose)
		}
		if w.refund.PaymentID != "" {
			purposes = append(purposes, l.s.transferPurpose(w.refund))
		}
	}
	if len(purposes) == 0 {
		if l.current.next == 0 {
			l.current.next = known.next
		}
		return known.sent, nil
	}
	more, err := l.s.Store.Sent(ctx, walletAt(l.address()), purposes)
	if err != nil {
		return nil, err
	}
	maps.Copy(more.For, known.sent)
	l.current.next = more.Next
	return more.For, nil
}

// accountsWithCode returns which of the accounts have code.
func (l *lane) accountsWithCode(ctx context.Context, accounts []common.Address) (map[common.Address]bool, error) {
	known := l.current.prepared.ready().code
	var unknown []common.Address
	for _, a := range accounts {
		if _, ok := known[a]; !ok {
			unknown = append(unknown, a)
		}
	}
	if len(unknown) == 0 {
		return known, nil
	}
	code, err := l.c.hasCode(ctx, unknown)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(known)
	if all == nil {
		all = map[common.Address]bool{}
	}
	for i, a := range unknown {
		all[a] = code[i]
	}
	return all, nil
}

// countMined returns how many transactions of the signer are in the newest block, as this
// round has read it first.
func (l *lane) countMined(ctx context.Context) (uint64, error) {
	from := l.address()
	if n, known := l.current.mined[from]; known {
		return n, nil
	}
	known := l.current.prepared.ready()
	n := known.mined
	if !known.counted {
		var err error
		if n, err = l.c.count(ctx, from, "latest"); err != nil {
			return 0, err
		}
	}
	l.current.mined[from], l.current.minable = n, n
	return n, nil
}

// confirmMined counts them again, at every endpoint, before nonces are skipped: one that is
// skipped by mistake is never mined, nor is anything after it. The lowest count is used.
func (l *lane) confirmMined(ctx context.Context) (uint64, error) {
	from := l.address()
	n, err := l.c.lowestCount(ctx, from)
	if err == nil {
		l.current.mined[from], l.current.minable = n, n
	}
	return n, err
}

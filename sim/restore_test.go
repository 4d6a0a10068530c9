package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
)

// A backup is the database as it was once, and what the world knows of it.
type backup struct {
	image  []byte
	signed map[string][]*transaction
	jobs   map[string]string
	given  map[string]deed.Wallet
}

// backUp makes a backup, or restores the last one.
func (w *world) backUp() {
	if w.saved != nil && w.rng.IntN(2) == 0 {
		w.restore()
		return
	}
	image, err := w.db.Image(context.Background())
	if err != nil {
		w.broken = err
		return
	}
	w.saved = &backup{image: image, signed: map[string][]*transaction{}, jobs: maps.Clone(w.jobs), given: maps.Clone(w.given)}
	for purpose, all := range w.chain.signed {
		w.saved.signed[purpose] = all[:len(all):len(all)]
	}
	w.tell("a backup is made")
}

// restore is an operator who stops every process, puts the backup in the place of
// the database, and finishes the restore before anything is started. The chain
// and the registry have gone on.
func (w *world) restore() {
	if w.restored || w.chain.unread() {
		return // people look at that
	}
	if err := w.db.SetImage(context.Background(), w.saved.image); err != nil {
		w.broken = err
		return
	}
	w.restored, w.chain.signed, w.jobs, w.given = true, w.saved.signed, w.saved.jobs, w.saved.given
	w.codes, w.tried = nil, map[string]int{}
	w.ends["restored"]++
	w.tell("the backup is restored")
	for _, p := range w.procs {
		p.stop()
	}
	nested := w.nested
	w.nested = 2 // nobody else is there
	defer func() { w.nested = nested }()
	w.tick(order.JobLease + order.QuietWindow + callTime + time.Duration(1+w.rng.IntN(60))*time.Second)
	for i := 0; i <= depth || w.chain.pending(); i++ { // until no transaction of ours is on its way
		w.tick(2 * time.Second)
		w.chain.mine()
	}
	for tries, finished := 0, false; !finished && tries < 40 && w.broken == nil; tries++ {
		finished = w.finish(w.procs[0])
	}
}

// finish is what an operator does after a restore, as often as it takes.
func (w *world) finish(p *process) (finished bool) {
	p.do("finish the restore", func(ctx context.Context) {
		p.pay.Restoring = true
		defer func() { p.pay.Restoring = false }()
		more, err := true, error(nil)
		for n := len(w.chain.blocks); more && err == nil && n > 0; n-- {
			more, err = p.pay.ReadChain(ctx)
		}
		aside := 0
		if err == nil {
			aside, err = w.aside()
		}
		if aside > 0 { // what it is for is not known before it is adopted
			w.tick(11 * time.Minute)
			err = errors.Join(fmt.Errorf("%d transfers are put aside", aside), p.pay.RetryAside(ctx))
		}
		if err != nil {
			w.tell("%d: %v", p.id, err)
			return
		}
		all, err := p.heal.Finish(ctx, false)
		for _, r := range all {
			w.tell("%d: %s paid for %s %s", p.id, r.Payment.ID, r.Order.Kind, r.Order.Name)
			if r.Order.Name != "" {
				w.ends["recovered"]++
			}
		}
		w.tell("%d: the restore is finished: %v", p.id, err)
		finished = err == nil
	})
	return finished
}

// lost returns how many payments wait for an operator.
func (w *world) lost() (int, error) {
	all, err := sqldb.Payments{DB: w.db}.Lost(context.Background())
	return len(all), err
}

// aside returns how many transfers were put aside.
func (w *world) aside() (int, error) {
	later := func() time.Time { return w.now.AddDate(1, 0, 0) }
	all, err := sqldb.Payments{DB: w.db, ChainID: chainID, Now: later}.DueAside(context.Background(), 100)
	return len(all), err
}

// unread says whether money came in a block that nobody can read.
func (c *chain) unread() bool {
	for _, b := range c.blocks {
		if b.fat {
			return true
		}
	}
	return false
}

// pending says whether a transaction of ours waits to be mined, or for depth.
func (c *chain) pending() bool {
	all := slices.Clone(c.pool)
	for _, b := range c.blocks[c.finalHeight()+1:] {
		all = append(all, b.txs...)
	}
	return slices.ContainsFunc(all, func(t *transaction) bool { return t.ours })
}

// stop ends a process, which starts again.
func (p *process) stop() {
	p.lives++
	p.boot()
}

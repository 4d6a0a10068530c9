package sim

import (
	"context"
)

// advancePayments, advanceJobs, advanceNames and readChain are what the worker
// does.
func (w *world) advancePayments(p *process) {
	p.do("due payments", func(ctx context.Context) {
		ids, _ := p.pay.Due(ctx, 8) // a worker that cannot read tries again
		w.advance(p, ids)
	})
	p.do("due refunds", func(ctx context.Context) {
		ids, _ := p.pay.DueRefunds(ctx, 8) // likewise
		w.advance(p, ids)
	})
}

func (w *world) advance(p *process, ids []string) {
	for _, id := range ids {
		p.do("advance "+id, func(ctx context.Context) {
			pay, err := p.pay.Advance(ctx, id)
			w.tell("%d: %s is %s, %v", p.id, id, pay.State, err)
		})
	}
}

func (w *world) advanceJobs(p *process) {
	p.do("due jobs", func(ctx context.Context) {
		ids, _ := p.pay.DueJobs(ctx, 8) // a worker that cannot read tries again
		for _, id := range ids {
			p.do("advance "+id, func(ctx context.Context) {
				err := p.pay.AdvanceJob(ctx, id)
				w.tell("%d: %s was advanced, %v", p.id, id, err)
			})
		}
	})
}

func (w *world) advanceNames(p *process) {
	p.ahead = w.registry.ahead // it learns of a jump only now
	p.do("due names", func(ctx context.Context) {
		names, _ := p.life.Due(ctx, 8) // a worker that cannot read tries again
		for _, name := range names {
			p.do("look after "+name, func(ctx context.Context) {
				err := p.life.Advance(ctx, name)
				w.tell("%d: %s was looked after, %v", p.id, name, err)
			})
		}
	})
	w.advanceLateOrders(p)
}

// advanceLateOrders looks for orders that an outside registry executed late.
func (w *world) advanceLateOrders(p *process) {
	if p.late == nil {
		return
	}
	p.do("due late orders", func(ctx context.Context) {
		ids, _ := p.late.Due(ctx, 8) // a worker that cannot read tries again
		for _, id := range ids {
			p.do("look for the late order of "+id, func(ctx context.Context) {
				err := p.late.Advance(ctx, id)
				w.tell("%d: the late order of %s was looked for, %v", p.id, id, err)
			})
		}
	})
}

func (w *world) readChain(p *process) {
	p.do("read the chain", func(ctx context.Context) {
		more, err := p.pay.ReadChain(ctx)
		w.tell("%d: the chain was read, %t, %v", p.id, more, err)
	})
	p.do("try again what was put aside", func(ctx context.Context) {
		if err := p.pay.RetryAside(ctx); err != nil {
			w.tell("%d: %v", p.id, err)
		}
	})
}

package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/mandate"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A process is one set of services on the common database. All it calls, the
// stores and the outside, goes through call: that is where it can be stopped.
type process struct {
	w     *world
	id    int
	lives int                 // how often it has died
	skew  time.Duration       // of its own watch
	clock *sqldb.Clock        // the database's, as it knows it
	payTo deed.Wallet         // as it was configured when it started
	seen  map[string][]*block // by payment: the blocks at which it was checked
	ahead time.Duration       // of the registry's clock, as it knows it
	pay   *fulfil.Service
	names *registration.Service
	life  *registration.Lifecycle
	heal  *registration.Restore
	late  *registration.LateOrders // nil without an outside registry

	mandates *mandate.Service // nil when nobody signs renewals in advance
}

// death is what a process panics with when it dies.
type death struct{}

// callTime is how long one call to the registrar takes at most.
const callTime = 20 * time.Second

var errLost = errors.New("the answer was lost")

func newProcess(w *world, id int) *process {
	p := &process{w: w, id: id}
	p.boot()
	clock := func() time.Time { return p.clock.Now() }
	rows := payments{p, sqldb.Payments{DB: w.db, ChainID: chainID, Asset: asset, Now: clock}}
	jobs := jobStore{p, sqldb.Jobs{DB: w.db, Now: clock, Zones: sqldbtest.Zones(w.db, clock)}}
	life := func() time.Time { return p.clock.Now().Add(p.ahead) }
	chain := outside{p, settler{w.chain, func() deed.Wallet { return p.payTo }}}
	p.pay = &fulfil.Service{Store: rows, Books: rows, Queue: rows, Watch: watch{p, rows.s}, Terms: terms(), Now: clock,
		Verifier: chain, Settler: chain, Refunder: chain, Watcher: chain, Jobs: jobs, JobQueue: jobs, Wait: time.Hour}
	held := nameStore{p, sqldb.Registrations{DB: w.db, Now: life, Zones: sqldbtest.Zones(w.db, clock)}}
	p.names = &registration.Service{Store: jobs, Names: held, Registrar: registrarCalls{p, w.registry}, Manager: manager{p: p, r: w.registry},
		Prices: prices{}, Offers: sqldb.Prices{DB: w.db}, Nameservers: ourServers, Now: clock, RegistryNow: life}
	p.pay.Kinds = []order.Kind{p.names}
	p.life = &registration.Lifecycle{Names: held, Manager: manager{p: p, r: w.registry}, Servers: ourServers, Grace: prices{}.GraceDays, Now: life, Log: slog.New(slog.DiscardHandler)}
	p.heal = &registration.Restore{Payments: rows, Jobs: jobs, JobRows: jobs, Chain: chain, Now: clock,
		Names: held, Holdings: manager{p: p, r: w.registry},
		Orders: registrarCalls{p, w.registry}, Lookup: registrarCalls{p, w.registry}, Servers: ourServers,
		Undone: rows, Cancels: sqldb.Cancellations{DB: w.db, Now: clock, Names: held.s},
		Mandates: sqldb.Mandates{DB: w.db, Asset: network.Asset{ChainID: chainID, Token: asset}, Now: life}, Prices: prices{}}
	if w.outside != nil {
		p.useOutside(clock, life)
	}
	if w.mandates != nil {
		p.useMandates(life)
	}
	if w.cancels != nil {
		p.useCancels(clock, life)
	}
	return p
}

// terms are ours but for the number of open payments: three are reached sooner.
func terms() fulfil.Terms {
	t := fulfil.DefaultTerms()
	t.ChainID, t.Asset, t.MaxOpen = chainID, asset, 3
	return t
}

// boot is what the process does before all else, in each of its lives: it asks
// the database for the time, because its own watch is wrong by minutes.
func (p *process) boot() {
	p.skew, p.ahead, p.payTo, p.seen = p.w.wrong(), p.w.registry.ahead, p.w.payTo, map[string][]*block{}
	p.clock = sqldb.NewClock(p.w.db, p.watch)
	if err := p.clock.Sync(context.Background()); err != nil {
		p.w.broken = err
	}
	if p.mandates != nil {
		p.mandates.PayTo = p.payTo
	}
	p.w.tell("%d: starts with a watch that is %s off", p.id, p.skew)
}

// watch is the process's own clock. Nothing that is shared may go by it.
func (p *process) watch() time.Time { return p.w.now.Add(p.skew) }

// do runs f in the process until it ends or the process dies.
func (p *process) do(what string, f func(ctx context.Context)) {
	p.w.tell("%d: %s", p.id, what)
	defer func() {
		if v := recover(); v != nil {
			if _, died := v.(death); !died {
				panic(v)
			}
		}
	}()
	f(context.Background())
}

// yield is a point between two acts of the process. There others may go on for
// any time, the process may die, and it may have died meanwhile.
func (p *process) yield(where string) {
	lives := p.lives
	p.w.others()
	if p.lives == lives && p.w.fault(120) {
		p.lives++
		p.w.tell("%d: dies %s", p.id, where)
		p.boot()
	}
	if p.lives != lives {
		panic(death{})
	}
}

// call makes one call, which may fail before it is done, or after.
func call[T any](p *process, what string, f func() (T, error)) (T, error) {
	var none T
	p.yield("before " + what)
	if p.w.fault(50) {
		p.w.tell("%d: %s was not done", p.id, what)
		return none, errLost
	}
	got, err := f()
	p.w.dirty = p.w.dirty || writes(what)
	p.yield("after " + what)
	if p.w.fault(50) {
		p.w.tell("%d: %s: the answer is lost", p.id, what)
		return none, errLost
	}
	return got, err
}

// writes says whether a call changes rows that are checked.
func writes(what string) bool {
	verb, _, _ := strings.Cut(what, " ")
	switch verb {
	case "AuthorizePayment", "MovePayment", "ClaimPayment", "Adopt", "MoveJob", "CompleteJob", "FailJob", "UpdateRegistration", "EndRegistration", "MoveLateOrder", "Delete",
		"CreateMandates", "RevokeMandates", "EndMandate", "BeginCancellation", "FinishCancellation", "KeepName":
		return true
	}
	return false
}

func act(p *process, what string, f func() error) error {
	_, err := call(p, what, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

type jobStore struct {
	p *process
	s sqldb.Jobs
}

func (s jobStore) Job(ctx context.Context, id string) (order.Job, error) {
	return call(s.p, "Job", func() (order.Job, error) {
		j, err := s.s.Job(ctx, id)
		if err != nil {
			return j, err
		}
		if tried := s.p.w.tried[id]; j.Attempts < tried && s.p.w.broken == nil {
			s.p.w.broken = fmt.Errorf("%s was tried %d times, and says %d", id, tried, j.Attempts)
		}
		s.p.w.tried[id] = j.Attempts
		return j, nil
	})
}

func (s jobStore) JobOf(ctx context.Context, a order.Payment) (order.Job, error) {
	return call(s.p, "JobOf", func() (order.Job, error) { return s.s.JobOf(ctx, a) })
}

func (s jobStore) MoveJob(ctx context.Context, j order.Job, to order.JobState, next time.Time) (bool, error) {
	what := "MoveJob " + string(to)
	if to == j.State {
		what = "delay the job"
	}
	if to == order.JobSubmitting && j.Purchase.Kind == order.PurchaseRenewal {
		s.p.overtaken()
	}
	return call(s.p, what, func() (bool, error) { return s.s.MoveJob(ctx, j, to, next) })
}

// overtaken lets the other process go on for a while, between what this one has
// read and what it writes.
func (p *process) overtaken() {
	if p.w.nested >= 2 || !p.w.fault(3) {
		return
	}
	p.w.nested++
	for range 4 {
		p.w.tick(10 * time.Second)
		p.w.advanceJobs(p.w.procs[1-p.id])
	}
	p.w.nested--
}

func (s jobStore) CompleteJob(ctx context.Context, j order.Job, r lifecycle.Registration) error {
	return act(s.p, "CompleteJob", func() error { return s.s.CompleteJob(ctx, j, r) })
}

func (s jobStore) FailJob(ctx context.Context, j order.Job) error {
	return act(s.p, "FailJob", func() error { return s.s.FailJob(ctx, j) })
}

func (s jobStore) Unfinished(ctx context.Context) ([]order.Job, error) {
	return call(s.p, "Unfinished", func() ([]order.Job, error) { return s.s.Unfinished(ctx) })
}

func (s jobStore) CompleteRenewal(ctx context.Context, j order.Job, placed order.Placed, expires time.Time) error {
	return act(s.p, "CompleteRenewal", func() error { return s.s.CompleteRenewal(ctx, j, placed, expires) })
}

func (s jobStore) ResumeJob(ctx context.Context, j order.Job, placed order.Placed) error {
	return act(s.p, "ResumeJob", func() error { return s.s.ResumeJob(ctx, j, placed) })
}

func (s jobStore) PublicJob(ctx context.Context, publicID string) (order.Job, error) {
	return s.s.PublicJob(ctx, publicID)
}

func (s jobStore) DueChanges(ctx context.Context, most int) ([]string, error) {
	return s.s.DueChanges(ctx, most)
}

func (s jobStore) DueJobs(ctx context.Context, most int) ([]string, error) {
	return call(s.p, "DueJobs", func() ([]string, error) { return s.s.DueJobs(ctx, most) })
}

func (s jobStore) WakeJobs(ctx context.Context) error {
	return act(s.p, "WakeJobs", func() error { return s.s.WakeJobs(ctx) })
}

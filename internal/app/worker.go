package app

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/worker"
)

// backgroundWorker is the running worker loop.
type backgroundWorker struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// startWorker starts the loop. It is stopped after the last request, so that it can
// still advance what that one left behind.
func (a *App) startWorker() *backgroundWorker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &backgroundWorker{cancel, make(chan struct{})}
	loop := &worker.Loop{Log: a.log, Waiting: a.metrics.Waiting, Due: a.metrics.Due, Failed: a.metrics.WorkFailed, Trace: a.tracer.Row, Tasks: a.tasks(), Rows: a.rows()}
	go func() {
		defer close(w.done)
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		wg.Go(func() { a.dns.listen(ctx, a.DB, a.log) })
		wg.Wait()
	}()
	return w
}

// tasks returns what a node does periodically.
func (a *App) tasks() []worker.Task {
	all := []worker.Task{
		{Name: "clock", Interval: 5 * time.Second, Run: a.clock.Sync},
		{Name: "stop switches", Interval: switchInterval, Run: a.readSwitches},
		{Name: "overview", Interval: overviewInterval, Run: a.readOverview},
		{Name: "node", Interval: nodeInterval, Run: a.writeNode},
		{Name: "balances at registrars", Interval: time.Minute, Run: a.ReadBalances},
		{Name: "prices of registrars", Interval: time.Minute, Run: a.newRefresher().Refresh},
		{Name: "names that need an operator", Interval: attentionInterval, Run: a.CountNames},
		{Name: "messages of registries", Interval: messageInterval, Run: a.Messages().Read},
		{Name: "catalog", Interval: time.Minute, Run: sqldb.Served{DB: a.DB, Now: a.now}.NumberCatalog},
		{Name: "zone snapshot", Interval: time.Minute, Run: a.dns.saveSnapshot(a.log)},
		{Name: "name servers", Interval: 5 * time.Second, Run: a.dns.watchDrift(a.metrics, a.log)},
		{Name: "garbage collection", Interval: gcInterval, Run: newGCPacer().adjust},
	}
	if a.API != nil {
		// Also when no load balancer asks, so that logs and metrics say what is down.
		all = append(all, worker.Task{Name: "health", Interval: healthInterval, Run: func(ctx context.Context) error {
			a.API.Health.Report(ctx)
			return nil
		}})
	}
	if a.Webhooks != nil {
		all = append(all, a.webhookTasks()...)
	}
	if a.money != nil {
		all = append(all, a.moneyTasks()...)
	}
	return all
}

// rows returns the kinds of row that a node advances.
func (a *App) rows() (all []worker.Rows) {
	if a.money != nil {
		all = a.money.rows()
	}
	return slices.Concat(all, a.nameRows(), a.zoneRows(), a.mandateRows(), a.emailRows())
}

func (w *backgroundWorker) stop() {
	w.cancel()
	<-w.done
}

// rows returns payments and refunds. Refunds have their own slots, so that
// payments cannot delay them, as many as share a transaction.
func (m *money) rows() []worker.Rows {
	advance := func(ctx context.Context, id string) error {
		_, err := m.payments.Advance(ctx, id)
		return err
	}
	return []worker.Rows{
		{Name: "payments", Due: m.payments.Due, Advance: advance, Slots: 32},
		{Name: "refunds", Due: m.payments.DueRefunds, Advance: advance, Slots: 64},
	}
}

// nameRows returns orders and registered names.
func (a *App) nameRows() []worker.Rows {
	return []worker.Rows{
		{Name: "jobs", Due: a.engine.DueJobs, Advance: a.engine.AdvanceJob},
		{Name: "names", Due: func(ctx context.Context, limit int) ([]string, error) {
			if err := a.calendar.Sync(ctx); err != nil { // another node may have moved it
				return nil, err
			}
			return a.Lifecycle.Due(ctx, limit)
		}, Advance: a.Lifecycle.Advance, Paced: true},
		{Name: "late orders", Due: a.LateOrders.Due, Advance: a.LateOrders.Advance, Slots: lateOrderSlots, Paced: true},
		{Name: "moves", Due: a.names.Moves.DueMoves, Advance: a.names.AdvanceMove},
		{Name: "cancellations", Due: a.names.Cancels.DueCancellations, Advance: a.names.AdvanceCancellation},
		{Name: "registrants", Due: a.names.Registrants.DueRegistrants, Advance: a.names.AdvanceRegistrant, Slots: registrantSlots, Paced: true},
	}
}

// lateOrderSlots bounds how many refunded orders are looked up at a time: those who wait
// for an order go first.
const lateOrderSlots = 2

// registrantSlots bounds how many registrants are sent at a time, likewise.
const registrantSlots = 2

// messageInterval is how often the queues of registries are read.
const messageInterval = 30 * time.Second

// ReadBalances reads how much money is left at the registrars.
func (a *App) ReadBalances(ctx context.Context) error { return a.registrar.ReadBalances(ctx) }

// newRefresher returns the reader of what registrars charge.
func (a *App) newRefresher() *catalog.Refresher {
	rows := sqldb.Prices{DB: a.DB}
	return &catalog.Refresher{Service: a.prices, Backends: a.registrar, Store: rows, Prices: rows, Now: a.now, Log: a.log}
}

// RefreshPrices reads the prices of registrars that are due, and quotes by them.
func (a *App) RefreshPrices(ctx context.Context) error { return a.newRefresher().Refresh(ctx) }

// Messages returns the reader of what registries have to say.
func (a *App) Messages() *registration.Messages {
	return &registration.Messages{Backends: a.registrar.Backends(), Store: sqldb.Messages{DB: a.DB, Now: a.now}, Log: a.log}
}

// The poll intervals of a real chain and of the embedded one, whose calls are free.
// Pending payments are polled once per block by their settler.
const (
	watchInterval        = 30 * time.Second
	watchIntervalSandbox = time.Second
)

func (a *App) moneyTasks() []worker.Task {
	interval := watchInterval
	if a.chain.sandbox != nil {
		interval = watchIntervalSandbox
	}
	return []worker.Task{
		{Name: "signer", Interval: healthInterval, Run: a.checkSigners},
		{Name: "signed transactions", Interval: 5 * time.Second, Run: a.money.settler.Tick},
		{Name: "watcher", Interval: interval, Run: func(ctx context.Context) error { return readChain(ctx, a.money.payments) }},
		{Name: "put aside", Interval: time.Minute, Run: a.money.payments.RetryAside},
		{Name: "our wallets", Interval: interval, Run: a.money.reserve.Refresh},
		{Name: "failed transfers", Interval: interval, Run: a.money.reverts.Refresh},
		{Name: "stalled", Interval: 5 * time.Second, Run: func(ctx context.Context) error { return a.money.checkStalled(ctx, a.metrics, a.log) }},
	}
}

// readChain reads the chain to its end. Transfers that were put aside are reported
// at the end.
func readChain(ctx context.Context, payments *fulfil.Service) error {
	var aside []error
	for {
		more, err := payments.ReadChain(ctx)
		if err != nil {
			aside = append(aside, err)
		}
		if !more {
			return errors.Join(aside...)
		}
	}
}

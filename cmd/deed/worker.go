package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/payment"
	"deed.example/deed/internal/worker"
)

// backgroundWorker is the running worker loop.
type backgroundWorker struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// startWorker starts the loop. It is stopped after the last request, so that it can
// still advance what that one left behind.
func startWorker(b *backends, api *httpapi.Server, counters *metrics.Metrics, log *slog.Logger) *backgroundWorker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &backgroundWorker{cancel, make(chan struct{})}
	loop := &worker.Loop{Log: log, Waiting: counters.Waiting, Tasks: []worker.Task{
		{Name: "clock", Interval: 5 * time.Second, Run: b.clock.Sync},
		{Name: "name servers", Interval: 5 * time.Second, Run: b.dns.watchDrift(counters, log)},
	}}
	if b.money != nil {
		loop.Rows = moneyRows(api)
		loop.Tasks = append(loop.Tasks, moneyTasks(b, api, counters, log)...)
	}
	loop.Rows = append(loop.Rows, nameRows(b, api)...)
	loop.Rows = append(loop.Rows, zoneRows(b, api.Zones)...)
	go func() {
		defer close(w.done)
		var wg sync.WaitGroup
		wg.Go(func() { loop.Run(ctx) })
		wg.Go(func() { b.dns.listen(ctx, b.db, log) })
		wg.Wait()
	}()
	return w
}

func (w *backgroundWorker) stop() {
	w.cancel()
	<-w.done
}

// moneyRows returns payments and refunds. Refunds have their own slots, so that
// payments cannot delay them, as many as share a transaction.
func moneyRows(api *httpapi.Server) []worker.Rows {
	advance := func(ctx context.Context, id string) error {
		_, err := api.Payments.Advance(ctx, id)
		return err
	}
	return []worker.Rows{
		{Name: "payments", Due: api.Payments.Due, Advance: advance, Slots: 32},
		{Name: "refunds", Due: api.Payments.DueRefunds, Advance: advance, Slots: 64},
	}
}

// nameRows returns orders and registered names.
func nameRows(b *backends, api *httpapi.Server) []worker.Rows {
	return []worker.Rows{
		{Name: "jobs", Due: api.Registrations.Due, Advance: api.Registrations.Advance},
		{Name: "names", Due: func(ctx context.Context, limit int) ([]string, error) {
			if err := b.calendar.Sync(ctx); err != nil { // another node may have moved it
				return nil, err
			}
			return b.lifecycle.Due(ctx, limit)
		}, Advance: b.lifecycle.Advance},
		{Name: "moves", Due: api.Registrations.Moves.DueMoves, Advance: api.Registrations.AdvanceMove},
	}
}

// The poll intervals of a real chain and of the embedded one, whose calls are free.
// Pending payments are polled once per block by their settler.
const (
	watchInterval        = 30 * time.Second
	watchIntervalSandbox = time.Second
)

func moneyTasks(b *backends, api *httpapi.Server, counters *metrics.Metrics, log *slog.Logger) []worker.Task {
	interval := watchInterval
	if b.chain.sandbox != nil {
		interval = watchIntervalSandbox
	}
	return []worker.Task{
		{Name: "signed transactions", Interval: 5 * time.Second, Run: b.money.settler.Tick},
		{Name: "watcher", Interval: interval, Run: func(ctx context.Context) error { return readChain(ctx, api.Payments) }},
		{Name: "put aside", Interval: time.Minute, Run: api.Payments.RetryAside},
		{Name: "our wallets", Interval: interval, Run: b.money.reserve.Refresh},
		{Name: "stalled", Interval: 5 * time.Second, Run: func(ctx context.Context) error { return b.money.checkStalled(ctx, counters, log) }},
	}
}

// readChain reads the chain to its end. Transfers that were put aside are reported
// at the end.
func readChain(ctx context.Context, payments *payment.Service) error {
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

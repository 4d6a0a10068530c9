package main

import (
	"context"
	"log/slog"
	"sync"

	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/work"
)

// working is the loop that goes on with what no request waits for any more.
type working struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// startWork starts the loop. It outlives the last request: what that one left
// behind may still be advanced while we stop.
func startWork(b *backends, api *httpapi.Server, counters *metrics.Metrics, log *slog.Logger) *working {
	ctx, cancel := context.WithCancel(context.Background())
	w := &working{cancel, make(chan struct{})}
	loop := &work.Loop{Log: log, Every: []func(context.Context) error{b.clock.Sync, b.dns.watchDrift(counters, log)}}
	if b.money != nil {
		loop.Rows = []work.Rows{{Name: "payments", Due: api.Payments.Due, Advance: func(ctx context.Context, id string) error {
			_, err := api.Payments.Advance(ctx, id)
			return err
		}}}
		loop.Every = append(loop.Every, b.money.settler.Tick, api.Payments.ReadChain, b.money.reserve.Look)
	}
	loop.Rows = append(loop.Rows,
		work.Rows{Name: "jobs", Due: api.Registrations.Due, Advance: api.Registrations.Advance},
		work.Rows{Name: "names", Due: func(ctx context.Context, most int) ([]string, error) {
			if err := b.calendar.Sync(ctx); err != nil { // another node may have moved it
				return nil, err
			}
			return b.lives.Due(ctx, most)
		}, Advance: b.lives.Advance})
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

func (w *working) stop() {
	w.cancel()
	<-w.done
}

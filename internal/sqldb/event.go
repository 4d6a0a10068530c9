package sqldb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/event"
)

// Events implements event.Store. Fill the field.
type Events struct{ DB *DB }

// Events implements event.Store.
func (s Events) Events(ctx context.Context, owner deed.Wallet, n int64, limit int) (page []event.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT n, id, type, data, at FROM owner_events WHERE owner = $1 AND n > $2 ORDER BY n LIMIT $3`, owner, n, limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		e := event.Event{Owner: owner}
		var data string
		var at int64
		if err := rows.Scan(&e.N, &e.ID, &e.Type, &data, &at); err != nil {
			return err
		}
		e.At = timeOrZero(at)
		page = append(page, e)
		return json.Unmarshal([]byte(data), &page[len(page)-1].Data)
	})
	return page, err
}

// emit adds an event to the transaction. It is written just before the commit.
func (tx *Tx) emit(e event.Event) { tx.events = append(tx.events, e) }

// withLastWrites returns f followed by the writing of the catalog and then of the events,
// in the order of their owners. They come last because the row of the catalog and each
// owner's counter stay locked until the commit: a transaction that holds them waits for
// nothing else.
func withLastWrites(f func(context.Context, *Tx) error, seen *committed) func(context.Context, *Tx) error {
	return func(ctx context.Context, shared *Tx) error {
		tx := &Tx{Tx: shared.Tx, prepared: shared.prepared}
		if err := f(ctx, tx); err != nil {
			return err
		}
		if err := tx.members.write(ctx, tx); err != nil {
			return fmt.Errorf("write the catalog: %w", err)
		}
		byOwner := map[deed.Wallet][]event.Event{}
		for _, e := range tx.events {
			byOwner[e.Owner] = append(byOwner[e.Owner], e)
		}
		for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
			if err := insertEvents(ctx, tx, owner, byOwner[owner]); err != nil {
				return fmt.Errorf("write the events of %s: %w", owner, err)
			}
		}
		seen.events, seen.moves = tx.events, tx.moves
		return nil
	}
}

func insertEvents(ctx context.Context, tx *Tx, owner deed.Wallet, events []event.Event) error {
	var last int64
	var webhooks int
	err := tx.QueryRowContext(ctx, `
		INSERT INTO event_counters (owner, n) VALUES ($1, $2)
		ON CONFLICT (owner) DO UPDATE SET n = event_counters.n + $2
		RETURNING n, (SELECT count(*) FROM webhooks WHERE owner = $1 AND disabled_at = 0)`, owner, len(events)).Scan(&last, &webhooks)
	if err != nil {
		return err
	}
	rows := make([][]any, len(events))
	for i := range events {
		e := &events[i]
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		e.ID, e.N = newPublicID("evt_"), last-int64(len(events)-1-i)
		rows[i] = []any{owner, e.N, e.ID, e.Type, string(data), e.At.Unix()}
	}
	if err := insertRows(ctx, tx, "owner_events (owner, n, id, type, data, at)", rows); err != nil {
		return err
	}
	for i := 0; i < len(events) && webhooks > 0; i++ {
		if err := queueDeliveries(ctx, tx, events[i]); err != nil {
			return err
		}
	}
	return queueEmail(ctx, tx, owner, events)
}

// emitPublished tells the owner of a zone that all name servers have its serial.
func emitPublished(ctx context.Context, tx *Tx, name deed.Name, serial uint32, now time.Time) error {
	r, err := readRegistration(ctx, tx, name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // it has ended
	}
	if err == nil {
		tx.emit(event.Event{Owner: r.Owner, Type: event.DNSPublished, At: now, Data: event.Data{Domain: name, Serial: serial}})
	}
	return err
}

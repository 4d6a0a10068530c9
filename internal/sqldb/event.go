package sqldb

import (
	"context"
	"fmt"
	"maps"
	"slices"

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

// writeLast writes the catalog and then the events, in the order of their owners. Events
// come last because each owner's counter stays locked until the commit: a transaction that
// holds one waits only for the rows of the owner's webhooks and e-mail, so one that holds
// such a row must not wait for a counter.
func (tx *Tx) writeLast(ctx context.Context) error {
	tx.members.write(tx)
	byOwner := map[deed.Wallet][]event.Event{}
	for _, e := range tx.events {
		byOwner[e.Owner] = append(byOwner[e.Owner], e)
	}
	for _, owner := range slices.Sorted(maps.Keys(byOwner)) {
		if err := tx.writeEvents(ctx, owner, byOwner[owner]); err != nil {
			return fmt.Errorf("write the events of %s: %w", owner, err)
		}
	}
	if tx.pool != nil {
		return nil // see sendAtOnce
	}
	return tx.flush(ctx)
}

// writeEvents numbers the events of an owner, stores them, and queues what is sent of them.
func (tx *Tx) writeEvents(ctx context.Context, owner deed.Wallet, events []event.Event) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		rows[i] = []any{newPublicID("evt_"), len(events) - 1 - i, e.Type, string(data), e.Aggregate(), e.At.Unix()}
	}
	counter := tx.returned("event_counters")
	tx.queue(`
		INSERT INTO event_counters (owner, n) VALUES ($1, $2)
		ON CONFLICT (owner) DO UPDATE SET n = event_counters.n + $2 RETURNING owner, n`, owner, len(events))
	for chunk := range tx.chunks(rows) {
		given, args := tx.rows(2, []string{"id", "back", "type", "data", "aggregate", "at"}, chunk)
		args = append([]any{owner}, args...)
		tx.queue(`
			INSERT INTO owner_events (owner, n, id, type, data, at)
			SELECT c.owner, c.n - given.back, given.id, given.type, given.data, given.at
			  FROM `+counter+` c, `+given+` WHERE c.owner = $1`, args...)
		// Deliveries are due at once: next_at is 0, because the time of an event may be that
		// of a registry whose clock differs from ours.
		tx.queue(`
			INSERT INTO webhook_deliveries (webhook, event, n, type, aggregate, host, state, created_at)
			SELECT w.id, given.id, c.n - given.back, given.type, given.aggregate, w.host, 'pending', given.at
			  FROM `+counter+` c JOIN webhooks w ON w.owner = c.owner AND w.disabled_at = 0, `+given+` WHERE c.owner = $1`, args...)
	}
	// It is not a condition that nothing was due before: the row must be locked, so that
	// the dispatcher sees the new deliveries when it computes what is due next.
	tx.queue(`UPDATE webhooks SET due_at = 0 FROM `+counter+` c WHERE webhooks.owner = $1 AND webhooks.disabled_at = 0 AND c.owner = $1`, owner)
	return queueEmail(ctx, tx, owner, events)
}

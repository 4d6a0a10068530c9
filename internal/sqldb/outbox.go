package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/event"
)

// DueOutbox implements zone.Outbox.
func (s Zones) DueOutbox(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "z.domain", from: "outbox o JOIN zones z ON z.id = o.zone_id",
		at: "o.next_at", where: "o.propagated_serial < o.serial AND" + isServed,
	}, s.Now(), limit)
}

// MarkPropagated implements zone.Outbox. The owner is told of their changes, once, by
// whoever is first; not of new signatures or addresses of an alias.
func (s Zones) MarkPropagated(ctx context.Context, name deed.Name, serial uint32) error {
	return s.DB.atOnce(ctx, func(ctx context.Context, tx *Tx) error {
		var id string
		var owner deed.Wallet // empty if nothing of theirs is new
		var before uint32
		err := tx.QueryRowContext(ctx, `
			SELECT o.zone_id, o.propagated_serial, coalesce(r.owner, '')
			  FROM zones z JOIN outbox o ON o.zone_id = z.id
			  LEFT JOIN registrations r ON r.domain = z.domain AND EXISTS (
				SELECT 1 FROM revisions v WHERE v.zone_id = z.id AND v.serial > o.propagated_serial AND v.serial <= $2)
			 WHERE z.domain = $1 AND z.ended_at IS NULL`, name, serial).Scan(&id, &before, &owner)
		if errors.Is(err, sql.ErrNoRows) || err == nil && before >= serial {
			return nil // it has ended, or another node was first
		}
		if err != nil {
			return err
		}
		const update = `UPDATE outbox SET propagated_serial = $1 WHERE zone_id = $2 AND propagated_serial = $3 AND serial >= $1`
		first := true
		if tx.pool != nil {
			tx.requireFirst(errNeedsTx, update, serial, id, before)
		} else if first, err = rowsAffected(tx.ExecContext(ctx, update, serial, id, before)); err != nil {
			return err
		}
		if first && owner != "" {
			tx.emit(event.Event{Owner: owner, Type: event.DNSPublished, At: s.Now(), Data: event.Data{Domain: name, Serial: serial}})
		}
		return nil
	})
}

// DelayOutbox implements zone.Outbox.
func (s Zones) DelayOutbox(ctx context.Context, name deed.Name, until time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE outbox SET next_at = $1 WHERE zone_id = (SELECT id FROM zones WHERE domain = $2 AND ended_at IS NULL)`,
			until.Unix(), name)
		return err
	})
}

// Behind implements zone.Outbox. Few changes are under way, and nearly all zones changed
// before, so the zones must not be read first: SQLite keeps the order of a CROSS JOIN, and a
// sum is not looked up in the index of changed_at.
func (s Zones) Behind(ctx context.Context, before time.Time) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT count(*) FROM outbox o CROSS JOIN zones z
		 WHERE z.id = o.zone_id AND o.propagated_serial < o.serial AND z.changed_at + 0 < $1 AND`+isServed, before.UnixMilli()).Scan(&n)
	return n, err
}

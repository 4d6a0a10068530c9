package sqldb

import (
	"context"
	"time"

	"deed.example/deed"
)

// DueOutbox implements zone.Outbox.
func (s Zones) DueOutbox(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "z.domain", from: "outbox o JOIN zones z ON z.id = o.zone_id",
		at: "o.next_at", where: "o.propagated_serial < o.serial AND" + isServed,
	}, s.Now(), limit)
}

// MarkPropagated implements zone.Outbox. The owner is told once, by whoever is first.
func (s Zones) MarkPropagated(ctx context.Context, name deed.Name, serial uint32) error {
	const update = `
		UPDATE outbox SET propagated_serial = $1
		 WHERE zone_id = (SELECT id FROM zones WHERE domain = $2 AND ended_at IS NULL) AND propagated_serial < $1 AND serial >= $1`
	return s.DB.atOnce(ctx, func(ctx context.Context, tx *Tx) error {
		if tx.pool != nil {
			err := emitPublished(ctx, tx, name, serial, s.Now())
			tx.requireFirst(errNeedsTx, update, serial, name)
			return err
		}
		isNew, err := rowsAffected(tx.ExecContext(ctx, update, serial, name))
		if err != nil || !isNew {
			return err
		}
		return emitPublished(ctx, tx, name, serial, s.Now())
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

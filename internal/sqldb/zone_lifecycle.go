package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"deed.example/deed"
)

// setServing starts or stops serving the zone.
func (s Zones) setServing(ctx context.Context, tx *Tx, name deed.Name, serving bool) error {
	if serving {
		if stays, err := suspended(ctx, tx, name); err != nil || stays {
			return err
		}
	}
	now := s.Now()
	var withdrawn any
	if !serving {
		withdrawn = now.Unix()
	}
	var label string
	err := tx.QueryRowContext(ctx, `
		UPDATE zones SET withdrawn_at = $1, changed_at = $2 WHERE domain = $3 AND ended_at IS NULL AND (withdrawn_at IS NULL) <> $4
		RETURNING member`,
		withdrawn, now.UnixMilli(), name, serving).Scan(&label)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // it is so already
	}
	if err != nil {
		return err
	}
	if serving {
		// Secondaries without a catalog have an empty zone with the next serial.
		z, err := s.lockZone(ctx, tx, name)
		if err != nil {
			return err
		}
		z.Serial = max(z.Serial+2, uint32(now.Unix()))
		if err := s.serve(ctx, tx, z); err != nil {
			return err
		}
	}
	tx.members.add(name, label, serving)
	tx.notify(name, 0)
	return nil
}

// endZone ends the zone of a name whose registration has ended. The next owner of the
// name never sees its records.
func (s Zones) endZone(ctx context.Context, tx *Tx, name deed.Name) error {
	now := s.Now()
	var id, label string
	var serial, withdrawn int64
	err := tx.QueryRowContext(ctx, `
		UPDATE zones SET ended_at = $1, changed_at = $2, serial = serial + 1 WHERE domain = $3 AND ended_at IS NULL
		RETURNING id, serial, member, coalesce(withdrawn_at, 0)`,
		now.Unix(), now.UnixMilli(), name).Scan(&id, &serial, &label, &withdrawn)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`UPDATE records SET removed_serial = $1 WHERE zone_id = $2 AND removed_serial IS NULL`,
		`DELETE FROM served WHERE zone_id = $2 AND removed_serial IS NULL AND added_serial <= $1`, // each by its index
		`DELETE FROM served WHERE zone_id = $2 AND removed_serial IS NOT NULL AND added_serial <= $1`,
		`DELETE FROM outbox WHERE zone_id = $2 AND serial <= $1`,
		`DELETE FROM key_rolls WHERE zone_id = $2 AND $1 > 0`, // both parameters must be used
		`DELETE FROM aliases WHERE zone_id = $2 AND $1 > 0`,
	} {
		if _, err := tx.ExecContext(ctx, query, serial, id); err != nil {
			return err
		}
	}
	if withdrawn == 0 {
		tx.members.add(name, label, false)
	}
	tx.notify(name, 0)
	return nil
}

// relabel gives the zone a new label in the catalog when the name is handed over, so that
// secondaries reset its state (RFC 9432, 5.4).
func (s Zones) relabel(ctx context.Context, tx *Tx, name deed.Name) error {
	var old string
	var withdrawn int64
	err := tx.QueryRowContext(ctx, `SELECT member, coalesce(withdrawn_at, 0) FROM zones WHERE domain = $1 AND ended_at IS NULL`, name).Scan(&old, &withdrawn)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	label := newMember()
	if _, err := tx.ExecContext(ctx, `UPDATE zones SET member = $1 WHERE domain = $2 AND ended_at IS NULL`, label, name); err != nil {
		return err
	}
	if withdrawn == 0 {
		tx.members.add(name, old, false)
		tx.members.add(name, label, true)
	}
	return nil
}

// DueZones returns zones whose signatures must be renewed.
func (s Zones) DueZones(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "domain", from: "zones", at: "renew_at", where: "renew_at > 0 AND ended_at IS NULL"}, s.signatureTime(), limit)
}

// maxSerialAhead bounds how far ahead of the clock RaiseSerial sets a serial, about eight years:
// it cannot be taken back.
const maxSerialAhead = 1 << 28

// RaiseSerial gives the zone a serial that is later than this one, if it has none.
func (s Zones) RaiseSerial(ctx context.Context, name deed.Name, above uint32) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		z, err := s.lockZone(ctx, tx, name)
		if deed.CodeOf(err) == deed.CodeNotFound {
			return nil // it has ended meanwhile
		}
		if err != nil || z.Serial >= above {
			return err
		}
		now := s.Now().Unix()
		if int64(above) > now+maxSerialAhead {
			return fmt.Errorf("a name server has %s with serial %d, and ignores the one here, which has %d: delete its copy", name, above, z.Serial)
		}
		z.Serial = max(above+1, uint32(now))
		return s.serve(ctx, tx, z)
	})
}

// Resign renews expiring signatures of the zone, with a new serial.
func (s Zones) Resign(ctx context.Context, name deed.Name) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		z, err := s.lockZone(ctx, tx, name)
		if deed.CodeOf(err) == deed.CodeNotFound {
			return nil // it has ended meanwhile
		}
		if err != nil {
			return err
		}
		z.Serial = max(z.Serial+1, uint32(s.Now().Unix()))
		return s.serve(ctx, tx, z)
	})
}

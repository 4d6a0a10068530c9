package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// RequestKeyRolls has the keys of all signed zones replaced, or that of one zone, by keys
// of the newest master secret. Zones whose key is being replaced already are skipped, so
// it can be repeated when it fails. It returns how many others there are.
func (s Zones) RequestKeyRolls(ctx context.Context, only deed.Name) (zones int64, err error) {
	now := s.signatureTime().Unix()
	return s.inParts(ctx, only, func(ctx context.Context, tx *Tx, first, last string) (sql.Result, error) {
		return tx.ExecContext(ctx, `
			INSERT INTO key_rolls (zone_id, step, master, generation, effective_at, next_at, created_at)
			SELECT id, $1, $2, 0, 0, $3, $3 FROM zones
			 WHERE ended_at IS NULL AND generation > 0 AND id BETWEEN $4 AND $5
			    ON CONFLICT (zone_id) DO NOTHING`,
			lifecycle.KeyRequested, dnssec.Fingerprint(s.Publishing.Master), now, first, last)
	})
}

// KeyRollCounts returns how many keys are being replaced, by step.
func (s Zones) KeyRollCounts(ctx context.Context) (map[lifecycle.KeyRollStep]int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `SELECT step, count(*) FROM key_rolls GROUP BY step`)
	if err != nil {
		return nil, err
	}
	counts := map[lifecycle.KeyRollStep]int{}
	err = eachRow(rows, func() error {
		var step lifecycle.KeyRollStep
		var n int
		err := rows.Scan(&step, &n)
		counts[step] = n
		return err
	})
	return counts, err
}

// KeyRoll implements zone.KeyRolls.
func (s Zones) KeyRoll(ctx context.Context, name deed.Name) (r lifecycle.KeyRoll, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var effective, created, began int64
	// A step that a node of an earlier version began is at most as old as the zone's last change.
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT z.domain, k.step, k.effective_at, k.created_at, CASE WHEN k.step_at > 0 THEN k.step_at ELSE z.serial END
		  FROM key_rolls k JOIN zones z ON z.id = k.zone_id WHERE z.domain = $1 AND z.ended_at IS NULL`, name).
		Scan(&r.Name, &r.Step, &effective, &created, &began)
	if errors.Is(err, sql.ErrNoRows) {
		return r, deed.Errorf(deed.CodeNotFound, "the key of %s is not being replaced", name)
	}
	r.EffectiveAt, r.Created, r.StepBegan = timeOrZero(effective), timeOrZero(created), timeOrZero(began)
	return r, err
}

// DueKeyRolls implements zone.KeyRolls.
func (s Zones) DueKeyRolls(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "z.domain", from: "key_rolls k JOIN zones z ON z.id = k.zone_id", at: "k.next_at", where: isServed}, s.signatureTime(), limit)
}

// DelayKeyRoll implements zone.KeyRolls.
func (s Zones) DelayKeyRoll(ctx context.Context, r lifecycle.KeyRoll, until time.Time) error {
	return s.updateRoll(ctx, r, unixOrZero(r.EffectiveAt), until)
}

// StartKeyWait implements zone.KeyRolls.
func (s Zones) StartKeyWait(ctx context.Context, r lifecycle.KeyRoll, until time.Time) error {
	return s.updateRoll(ctx, r, until.Unix(), until)
}

// updateRoll sets the times of a step, unless another node has ended the step.
func (s Zones) updateRoll(ctx context.Context, r lifecycle.KeyRoll, effective int64, next time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE key_rolls SET effective_at = $1, next_at = $2
			 WHERE zone_id = (SELECT id FROM zones WHERE domain = $3 AND ended_at IS NULL) AND step = $4`,
			effective, next.Unix(), r.Name, r.Step)
		return err
	})
}

// NextKeyStep implements zone.KeyRolls: in one transaction the step changes, and the zone
// is signed as the next one needs it.
func (s Zones) NextKeyStep(ctx context.Context, r lifecycle.KeyRoll) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		z, err := s.lockZone(ctx, tx, r.Name)
		if err != nil || z.roll != r.Step {
			return err // another node was first
		}
		switch z.roll {
		case lifecycle.KeyRequested:
			err = s.introduceKey(ctx, tx, &z)
		case lifecycle.KeyIntroducing:
			z.keys[0], z.keys[1] = z.keys[1], z.keys[0]
			err = s.setRoll(ctx, tx, z, lifecycle.KeyReplacing)
		case lifecycle.KeyReplacing:
			z.keys = z.keys[:1]
			if _, err = tx.ExecContext(ctx, `DELETE FROM key_rolls WHERE zone_id = $1`, z.id); err == nil {
				err = s.addKeyEvent(ctx, tx, r.Name, lifecycle.EventKeyReplaced)
			}
		}
		if err != nil {
			return err
		}
		z.Serial = max(z.Serial+1, uint32(s.Now().Unix()))
		return s.serve(ctx, tx, z)
	})
}

// introduceKey adds the next key to the zone.
func (s Zones) introduceKey(ctx context.Context, tx *Tx, z *zoneRow) error {
	var master string
	if err := tx.QueryRowContext(ctx, `SELECT master FROM key_rolls WHERE zone_id = $1`, z.id).Scan(&master); err != nil {
		return err
	}
	next, err := s.Publishing.NextKey(z.Name, z.key(), master)
	if err != nil {
		return err
	}
	z.keys = append(z.keys, next)
	if err := s.setRoll(ctx, tx, *z, lifecycle.KeyIntroducing); err != nil {
		return err
	}
	return s.addKeyEvent(ctx, tx, z.Name, lifecycle.EventKeyIntroduced)
}

// setRoll stores the keys of the zone, and the step.
func (s Zones) setRoll(ctx context.Context, tx *Tx, z zoneRow, step lifecycle.KeyRollStep) error {
	_, err := tx.ExecContext(ctx, `UPDATE zones SET generation = $1, master = $2 WHERE id = $3`, z.keys[0].Generation, z.keys[0].Master, z.id)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE key_rolls SET step = $1, generation = $2, master = $3, effective_at = 0, next_at = $4, step_at = $5 WHERE zone_id = $6`,
		step, z.keys[1].Generation, z.keys[1].Master, s.signatureTime().Unix(), s.Now().Unix(), z.id)
	return err
}

func (s Zones) addKeyEvent(ctx context.Context, tx *Tx, name deed.Name, what lifecycle.EventType) error {
	r, err := readRegistration(ctx, tx, name)
	if err != nil {
		return err
	}
	now := s.signatureTime()
	return addEvent(ctx, tx, lifecycle.Event{Name: name, Reference: r.Reference, Type: what, At: now, About: now}, r.Owner)
}

// ZoneKeys returns the keys of the zone: the first signs its records, another one is
// introduced or replaced. An unsigned zone has none.
func (s Zones) ZoneKeys(ctx context.Context, name deed.Name) ([]dnssec.KeyID, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	z, err := scanZone(name, s.DB.read.QueryRowContext(ctx, selectZone, name))
	return z.keys, err
}

package sqldb

import (
	"context"
	"database/sql"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// memberChanges are the changes of the catalog in one transaction.
type memberChanges struct {
	all []dnssec.MemberChange
	at  time.Time
}

// add adds a change. It is written just before the commit, because the row of the catalog
// stays locked until then.
func (c *memberChanges) add(name deed.Name, label string, added bool, at time.Time) {
	c.all, c.at = append(c.all, dnssec.MemberChange{Origin: string(name), Label: label, Added: added}), at
}

// catalogRetention is how many serials the history of the catalog has at least. Serials
// are seconds, or more when more than one name a second comes or goes.
const catalogRetention = 30 * 24 * 3600

// nextSerial is the serial of the catalog after a change at $1.
const nextSerial = `(CASE WHEN catalog.serial >= $1 THEN catalog.serial + 1 ELSE $1 END)`

// write raises the serial of the catalog and stores the changes, if there are any. Once a
// day the history becomes a day shorter. It is queued as a whole: every sale waits for
// the row of the catalog.
func (c memberChanges) write(tx *Tx) {
	if len(c.all) == 0 {
		return
	}
	rows := make([][]any, len(c.all))
	for i, m := range c.all {
		added := 0
		if m.Added {
			added = 1
		}
		rows[i] = []any{m.Label, m.Origin, added}
	}
	catalog := tx.returned("catalog")
	tx.queue(`
		INSERT INTO catalog (id, serial, since) VALUES (1, $1, $1)
		ON CONFLICT (id) DO UPDATE SET serial = `+nextSerial+`,
			since = CASE WHEN `+nextSerial+` - catalog.since > $2 THEN `+nextSerial+` - $3 ELSE catalog.since END
		RETURNING id, serial, since`, c.at.Unix(), int64(catalogRetention+24*3600), int64(catalogRetention))
	for chunk := range tx.chunks(rows) {
		given, args := tx.rows(1, []string{"label", "origin", "added"}, chunk)
		tx.queue(`
			INSERT INTO catalog_changes (serial, label, origin, added)
			SELECT c.serial, given.label, given.origin, given.added FROM `+catalog+` c, `+given+` WHERE c.id = 1`, args...)
	}
	tx.queue(`DELETE FROM catalog_changes WHERE serial <= (SELECT since FROM ` + catalog + ` WHERE id = 1)`)
}

// raiseCatalog raises the serial of the catalog, and returns it.
func raiseCatalog(ctx context.Context, tx *Tx, now time.Time) (serial int64, err error) {
	err = tx.QueryRowContext(ctx, `
		INSERT INTO catalog (id, serial, since) VALUES (1, $1, $1)
		ON CONFLICT (id) DO UPDATE SET serial = `+nextSerial+`
		RETURNING serial`, now.Unix()).Scan(&serial)
	return serial, err
}

// forgetCatalog deletes the history up to a serial.
func forgetCatalog(ctx context.Context, tx *Tx, since int64) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM catalog_changes WHERE serial <= $1`, since); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE catalog SET since = $1 WHERE id = 1`, since)
	return err
}

// CatalogSerial implements primary.Store.
func (s Served) CatalogSerial(ctx context.Context) (serial uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT coalesce(max(serial), 1) FROM catalog`).Scan(&serial)
	return serial, err
}

// CatalogChanges implements primary.Store. It is one statement, so that the serial and
// the changes are consistent; without changes, the only row has just the serials.
func (s Served) CatalogChanges(ctx context.Context, from uint32, limit int) (changes []dnssec.MemberChange, serial uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT c.serial, c.since, h.label, h.origin, h.added
		  FROM catalog c LEFT JOIN catalog_changes h ON h.serial > $1
		 WHERE c.id = 1 ORDER BY h.serial LIMIT $2`, from, limit+1)
	if err != nil {
		return nil, 0, err
	}
	since := int64(1) // of a catalog that never had a member
	serial = 1
	err = eachRow(rows, func() error {
		var label, origin sql.NullString
		var added sql.NullInt64
		if err := rows.Scan(&serial, &since, &label, &origin, &added); err != nil || !label.Valid {
			return err
		}
		changes = append(changes, dnssec.MemberChange{Origin: origin.String, Label: label.String, Added: added.Int64 == 1})
		return nil
	})
	if err == nil && (int64(from) < since || from > serial || len(changes) > limit) {
		err = deed.Errorf(deed.CodeNotFound, "the changes of the catalog since its serial %d are not stored, or too many", from)
	}
	return changes, serial, err
}

// Members implements primary.Store. It is one statement, so that the serial and the
// members are consistent; without members, the only row has just the serial.
func (s Served) Members(ctx context.Context) (members []dnssec.Member, serial uint32, err error) {
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT c.serial, z.domain, z.member, z.serial
		  FROM (SELECT coalesce(max(serial), 1) AS serial FROM catalog) c LEFT JOIN zones z ON`+isServed)
	if err != nil {
		return nil, 0, err
	}
	err = eachRow(rows, func() error {
		var origin, label sql.NullString
		var own sql.NullInt64
		if err := rows.Scan(&serial, &origin, &label, &own); err != nil || !origin.Valid {
			return err
		}
		members = append(members, dnssec.Member{Origin: origin.String, Label: label.String, Serial: uint32(own.Int64)})
		return nil
	})
	return members, serial, err
}

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

// write raises the serial of the catalog and stores the changes, if there are any.
func (c memberChanges) write(ctx context.Context, tx *Tx) error {
	if len(c.all) == 0 {
		return nil
	}
	serial, since, err := raiseCatalog(ctx, tx, c.at)
	if err != nil {
		return err
	}
	rows := make([][]any, len(c.all))
	for i, m := range c.all {
		added := 0
		if m.Added {
			added = 1
		}
		rows[i] = []any{serial, m.Label, m.Origin, added}
	}
	tx.queueRows("catalog_changes", []string{"serial", "label", "origin", "added"}, rows)
	if serial-since <= catalogRetention+24*3600 { // once a day is enough
		return nil
	}
	return forgetCatalog(ctx, tx, serial-catalogRetention)
}

// raiseCatalog raises the serial of the catalog, and returns it with the serial from
// which on its history is complete.
func raiseCatalog(ctx context.Context, tx *Tx, now time.Time) (serial, since int64, err error) {
	err = tx.QueryRowContext(ctx, `
		INSERT INTO catalog (id, serial, since) VALUES (1, $1, $1)
		ON CONFLICT (id) DO UPDATE SET serial = CASE WHEN catalog.serial >= $1 THEN catalog.serial + 1 ELSE $1 END
		RETURNING serial, since`, now.Unix()).Scan(&serial, &since)
	return serial, since, err
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

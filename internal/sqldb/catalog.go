package sqldb

import (
	"context"
	"database/sql"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// memberChanges are the changes of the catalog in one transaction.
type memberChanges []dnssec.MemberChange

// add adds a change. It is written just before the commit.
func (c *memberChanges) add(name deed.Name, label string, added bool) {
	*c = append(*c, dnssec.MemberChange{Origin: string(name), Label: label, Added: added})
}

// write queues the changes. They get a serial when it is asked for, so that no sale waits
// for the row of the catalog.
func (c memberChanges) write(tx *Tx) {
	rows := make([][]any, len(c))
	for i, m := range c {
		rows[i] = []any{m.Label, m.Origin, boolInt(m.Added)}
	}
	tx.queueRows("catalog_pending", []string{"label", "origin", "added"}, rows)
}

// catalogRetention is how many serials the history of the catalog has at least. Serials
// are seconds, or more when they are asked for more than once a second.
const catalogRetention = 30 * 24 * 3600

// netPending selects the pending changes in a table, without those that undo each other.
func netPending(table string) string {
	return `SELECT label, origin, CASE WHEN sum(2 * added - 1) > 0 THEN 1 ELSE 0 END AS added
	          FROM ` + table + ` GROUP BY label, origin HAVING sum(2 * added - 1) <> 0`
}

// NumberCatalog gives the pending changes of the catalog a serial. Once a day the history
// becomes a day shorter.
func (s Served) NumberCatalog(ctx context.Context) error {
	var pending bool
	err := s.DB.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM catalog_pending)`).Scan(&pending)
	if err != nil || !pending {
		return err
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		serial, since, err := raiseCatalog(ctx, tx, s.Now())
		if err != nil {
			return err
		}
		if err := s.DB.movePending(ctx, tx, serial); err != nil {
			return err
		}
		if serial-since <= catalogRetention+24*3600 {
			return nil
		}
		return forgetCatalog(ctx, tx, serial-catalogRetention)
	})
}

// movePending moves the pending changes to the history. On PostgreSQL it is one statement,
// because others add more meanwhile; SQLite has one writer.
func (db *DB) movePending(ctx context.Context, tx *Tx, serial int64) error {
	const insert = `INSERT INTO catalog_changes (serial, label, origin, added) SELECT $1, label, origin, added FROM (`
	if db.dialect == postgres {
		_, err := tx.ExecContext(ctx, `WITH pending AS (DELETE FROM catalog_pending RETURNING label, origin, added) `+insert+netPending("pending")+`) net`, serial)
		return err
	}
	if _, err := tx.ExecContext(ctx, insert+netPending("catalog_pending")+`) net`, serial); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM catalog_pending`)
	return err
}

// raiseCatalog raises the serial of the catalog. It returns the new one, and the one that
// the history begins after. The row of the catalog is locked until the commit.
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
	if err := s.NumberCatalog(ctx); err != nil {
		return 0, err
	}
	err = s.DB.read.QueryRowContext(ctx, `SELECT coalesce(max(serial), 1) FROM catalog`).Scan(&serial)
	return serial, err
}

// CatalogChanges implements primary.Store. It is one statement, so that the serial and
// the changes are consistent; without changes, the only row has just the serials.
func (s Served) CatalogChanges(ctx context.Context, from uint32, limit int) (changes []dnssec.MemberChange, serial uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	if err := s.NumberCatalog(ctx); err != nil {
		return nil, 0, err
	}
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
// members are consistent: what has no serial yet is not listed, or still is. Without
// members, the only row has just the serial.
func (s Served) Members(ctx context.Context) (members []dnssec.Member, serial uint32, err error) {
	if err := s.NumberCatalog(ctx); err != nil {
		return nil, 0, err
	}
	rows, err := s.DB.read.QueryContext(ctx, `
		WITH net AS (`+netPending("catalog_pending")+`), members AS (
			SELECT z.domain, z.member, z.serial FROM zones z LEFT JOIN net ON net.label = z.member AND net.added = 1
			 WHERE net.label IS NULL AND`+isServed+`
			UNION ALL
			SELECT origin, label, 0 FROM net WHERE added = 0)
		SELECT c.serial, m.domain, m.member, m.serial
		  FROM (SELECT coalesce(max(serial), 1) AS serial FROM catalog) c LEFT JOIN members m ON true`)
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

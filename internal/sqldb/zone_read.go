package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
)

// A zoneRow is a stored zone.
type zoneRow struct {
	id   string
	keys []dnssec.KeyID // the first signs; the second is of a key roll
	roll lifecycle.KeyRollStep
	dnszone.Zone
	member       string // the label in the catalog of a zone that is not stored yet; else ""
	storedSerial uint32 // before a change
	changed      int64  // likewise, in Unix milliseconds

	// stored maps short record IDs to the long ones in the database, which a node
	// of an earlier version has written since the migration to short IDs.
	stored map[dnszone.RecordID]dnszone.RecordID
}

// masterOf is the fingerprint of the secret that the key of a zone is derived from. A
// node of an earlier version writes none, and knows one secret only.
const masterOf = `CASE WHEN z.master <> '' THEN z.master ELSE coalesce((SELECT fingerprint FROM zone_master WHERE id = 1), '') END`

const (
	zoneColumns = `z.id, z.serial, coalesce(v.serial, z.serial), z.changed_at, z.generation, ` + masterOf + `, r.owner, r.expires_at, coalesce(k.step, ''), coalesce(k.master, ''), coalesce(k.generation, 0)`
	zoneTables  = `zones z JOIN registrations r ON r.domain = z.domain LEFT JOIN key_rolls k ON k.zone_id = z.id
		LEFT JOIN revisions v ON v.zone_id = z.id AND v.serial = (SELECT max(m.serial) FROM revisions m WHERE m.zone_id = z.id)`
	selectZone = `SELECT ` + zoneColumns + ` FROM ` + zoneTables + ` WHERE z.domain = $1 AND z.ended_at IS NULL`
)

// version returns the version that the zone was read in.
func (z *zoneRow) version() zoneVersion { return zoneVersion{z.id, z.storedSerial, z.changed} }

// readZone returns a zone with its records. They are read by one statement: a second one
// would take longer than reading the columns of the zone with each record. Records that
// are cached in their current version are not read.
func (db *DB) readZone(ctx context.Context, from querier, name deed.Name) (zoneRow, error) {
	cached := db.zones.find(string(name))
	skip := cached.version
	rows, err := from.QueryContext(ctx, `
		SELECT `+zoneColumns+`, coalesce(n.id, ''), coalesce(n.type, ''), coalesce(n.host, ''), coalesce(n.value, ''), coalesce(n.ttl, 0), n.distance,
		       coalesce(n.created_at, 0), coalesce(n.updated_at, 0)
		  FROM `+zoneTables+` LEFT JOIN records n ON n.zone_id = `+unlessVersion+` AND n.removed_serial IS NULL
		 WHERE z.domain = $1 AND z.ended_at IS NULL`, name, skip.id, skip.serial, skip.changed)
	if err != nil {
		return zoneRow{}, err
	}
	var columns zoneScan
	var records []dnszone.Record
	err = eachRow(rows, func() error {
		r, err := scanRecord(rows, columns.all()...)
		if err == nil && r.ID != "" { // "": the zone has none
			records = append(records, r)
		}
		return err
	})
	z := columns.zone(name)
	if err == nil && z.id == "" {
		err = notRegistered(name)
	}
	var known bool
	if z.Records, known = cached.recordsOf(z.version()); known {
		return z, err
	}
	z.stored = shorten(records)
	z.Records = sortRecords(records)
	return z, err
}

// scanZone reads the row of selectZone.
func scanZone(name deed.Name, row *sql.Row) (zoneRow, error) {
	var columns zoneScan
	err := row.Scan(columns.all()...)
	if errors.Is(err, sql.ErrNoRows) {
		err = notRegistered(name)
	}
	return columns.zone(name), err
}

func notRegistered(name deed.Name) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not registered here", name)
}

// zoneScan are the zoneColumns of a row.
type zoneScan struct {
	row        zoneRow
	key, other dnssec.KeyID
	expires    int64
}

func (s *zoneScan) all() []any {
	z := &s.row
	return []any{&z.id, &z.Serial, &z.Revision, &z.changed, &s.key.Generation, &s.key.Master, &z.Owner, &s.expires, &z.roll, &s.other.Master, &s.other.Generation}
}

func (s *zoneScan) zone(name deed.Name) zoneRow {
	z := s.row
	z.Name, z.storedSerial, z.Expires = name, z.Serial, timeOrZero(s.expires)
	if s.key.Generation > 0 {
		z.keys = append(z.keys, s.key)
	}
	if z.roll == lifecycle.KeyIntroducing || z.roll == lifecycle.KeyReplacing {
		z.keys = append(z.keys, s.other)
	}
	z.Signed = len(z.keys) > 0
	return z
}

const selectRecords = `
	SELECT id, type, host, value, ttl, distance, created_at, updated_at FROM records WHERE `

// scanRecords returns the records of selectRecords in a deterministic order, with short
// IDs.
func scanRecords(rows *sql.Rows) (records []dnszone.Record, err error) {
	err = eachRow(rows, func() error {
		r, err := scanRecord(rows)
		records = append(records, r)
		return err
	})
	shorten(records)
	return sortRecords(records), err
}

// scanRecord reads a record that follows the columns before.
func scanRecord(rows *sql.Rows, before ...any) (r dnszone.Record, err error) {
	var distance sql.NullInt64
	var created, updated int64
	err = rows.Scan(append(before, &r.ID, &r.Type, &r.Host, &r.Value, &r.TTL, &distance, &created, &updated)...)
	if distance.Valid {
		n := int(distance.Int64)
		r.Distance = &n
	}
	r.Created, r.Updated = timeOrZero(created), timeOrZero(updated)
	return r, err
}

// shorten gives the records short IDs, and returns those that have a long ID in the
// database.
func shorten(records []dnszone.Record) (stored map[dnszone.RecordID]dnszone.RecordID) {
	for i, r := range records {
		short := r.ID.Short()
		if short == r.ID {
			continue
		}
		if stored == nil {
			stored = map[dnszone.RecordID]dnszone.RecordID{}
		}
		stored[short], records[i].ID = r.ID, short
	}
	return stored
}

func sortRecords(records []dnszone.Record) []dnszone.Record {
	slices.SortFunc(records, func(a, b dnszone.Record) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Value, b.Value), cmp.Compare(a.ID, b.ID))
	})
	return records
}

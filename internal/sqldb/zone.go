package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/lifecycle"
)

// Zones stores the zones of registered names: their records, and the served records,
// which are generated in the same transaction. Fill every field but Generation and
// SignatureClock.
type Zones struct {
	DB         *DB
	Now        func() time.Time
	Publishing dnssec.Publishing
	Generation int // of the keys of new zones; 0 leaves them unsigned

	// SignatureClock is the clock by which signatures are renewed and keys are
	// replaced: the registry's, which a sandbox can advance. nil means Now.
	SignatureClock func() time.Time
}

// Zone implements zone.Store.
func (s Zones) Zone(ctx context.Context, name deed.Name) (dnszone.Zone, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	z, err := s.DB.readZone(ctx, s.DB.prepared(), name)
	return z.Zone, err
}

// RecordAt implements zone.Store. The ID may be short or long.
func (s Zones) RecordAt(ctx context.Context, name deed.Name, id dnszone.RecordID, revision uint32) (dnszone.Record, error) {
	if r, ok := s.DB.zones.find(string(name)).record(id, revision); ok {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, selectRecords+`id IN ($1, $3) AND added_serial <= $2 AND (removed_serial IS NULL OR removed_serial > $2)`, id, revision, id.Short())
	if err != nil {
		return dnszone.Record{}, err
	}
	records, err := scanRecords(rows)
	if err == nil && len(records) == 0 {
		err = deed.Errorf(deed.CodeNotFound, "there was no record %s at revision %d", id, revision)
	}
	if err != nil {
		return dnszone.Record{}, err
	}
	return records[0], nil
}

// RecordsAt implements zone.History.
func (s Zones) RecordsAt(ctx context.Context, name deed.Name, revision uint32) ([]dnszone.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	z, err := scanZone(name, s.DB.read.QueryRowContext(ctx, selectZone, name))
	if err != nil {
		return nil, err
	}
	var known int
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM revisions WHERE zone_id = $1 AND serial = $2`, z.id, revision).Scan(&known)
	if err != nil {
		return nil, err
	}
	if known == 0 {
		return nil, deed.WithNext(deed.Errorf(deed.CodeNotFound, "%s has no revision %d", name, revision), deed.Next{Action: deed.ActionListRevisions, Domain: name})
	}
	rows, err := s.DB.read.QueryContext(ctx, selectRecords+`zone_id = $1 AND added_serial <= $2 AND (removed_serial IS NULL OR removed_serial > $2)`, z.id, revision)
	if err != nil {
		return nil, err
	}
	return scanRecords(rows)
}

// Around implements zone.History. The serials of a name never decrease, even across
// owners, so at most one of its zones has the revision.
func (s Zones) Around(ctx context.Context, name deed.Name, revision uint32) (before, after []dnszone.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var id string
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT z.id FROM zones z JOIN revisions v ON v.zone_id = z.id WHERE z.domain = $1 AND v.serial = $2`, name, revision).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = deed.Errorf(deed.CodeNotFound, "%s never had a revision %d", name, revision)
	}
	if err != nil {
		return nil, nil, err
	}
	for at, records := range map[uint32]*[]dnszone.Record{revision - 1: &before, revision: &after} {
		rows, err := s.DB.read.QueryContext(ctx, selectRecords+`zone_id = $1 AND added_serial <= $2 AND (removed_serial IS NULL OR removed_serial > $2)`, id, at)
		if err != nil {
			return nil, nil, err
		}
		if *records, err = scanRecords(rows); err != nil {
			return nil, nil, err
		}
	}
	return before, after, nil
}

// maxRevisions is how many revisions are returned.
const maxRevisions = 100

// Revisions implements zone.History.
func (s Zones) Revisions(ctx context.Context, name deed.Name) (list []dnszone.Revision, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT v.serial, v.at, v.added, v.deleted, v.records
		  FROM revisions v JOIN zones z ON z.id = v.zone_id
		 WHERE z.domain = $1 AND z.ended_at IS NULL ORDER BY v.serial DESC LIMIT $2`,
		name, maxRevisions)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var v dnszone.Revision
		var at int64
		if err := rows.Scan(&v.Serial, &at, &v.Added, &v.Deleted, &v.Records); err != nil {
			return err
		}
		v.At = timeOrZero(at)
		list = append(list, v)
		return nil
	})
	return list, err
}

// createZone queues the zone of a new registration, and returns its first serial.
func (s Zones) createZone(ctx context.Context, tx *Tx, r lifecycle.Registration, records []dnszone.Record) (serial uint32, err error) {
	now := s.Now()
	z := zoneRow{id: "zone_" + strings.ToLower(rand.Text()), member: newMember(), Zone: dnszone.Zone{Name: r.Name, Owner: r.Owner, Serial: uint32(now.Unix())}}
	if s.Generation > 0 {
		z.keys = []dnssec.KeyID{s.newKey()}
	}
	if tx.reads == nil { // otherwise insertZone decides whether the serial is the largest
		var last sql.NullInt64
		if err := tx.QueryRowContext(ctx, `SELECT max(serial) FROM zones WHERE domain = $1`, r.Name).Scan(&last); err != nil {
			return 0, err
		}
		z.Serial = max(z.Serial, uint32(last.Int64)+1)
	}
	z.storedSerial = z.Serial
	for _, rec := range records {
		rec.ID = NewRecordID()
		rec.Created, rec.Updated = now, now
		z.Records = append(z.Records, rec)
	}
	tx.members.add(r.Name, z.member, true)
	if hasAlias(z.Zone) { // its aliases refer to it
		if _, err := tx.ExecContext(ctx, insertZone, s.insertArgs(z, time.Time{}, time.Time{})...); err != nil {
			return 0, err
		}
		z.member = ""
	}
	return z.Serial, s.writeZone(ctx, tx, z, dnszone.Zone{Name: r.Name})
}

// newKey identifies the key of a new zone.
func (s Zones) newKey() dnssec.KeyID {
	return dnssec.KeyID{Master: dnssec.Fingerprint(s.Publishing.Master), Generation: s.Generation}
}

// insertZone inserts a zone, if its serial is larger than those of earlier zones of the
// name: name servers must see it as newer.
const insertZone = `
	INSERT INTO zones (id, domain, serial, member, generation, master, renew_at, changed_at)
	SELECT $1, $2, $3, $4, $5, $6, $7, $8
	 WHERE NOT EXISTS (SELECT 1 FROM zones WHERE domain = $2 AND serial >= $3)`

func (s Zones) insertArgs(z zoneRow, renew, changed time.Time) []any {
	key, at := s.newKey(), int64(0)
	if !changed.IsZero() {
		at = changed.UnixMilli()
	}
	return []any{z.id, z.Name, z.Serial, z.member, key.Generation, key.Master, unixOrZero(renew), at}
}

// NewRecordID returns the ID of a new record: 14 characters with 70 random bits.
// ChangeZone makes sure that IDs are never reused within a zone.
func NewRecordID() dnszone.RecordID { return dnszone.RecordID(strings.ToLower(rand.Text()[:14])) }

// newMember returns a random catalog label, which does not reveal the name.
func newMember() string { return strings.ToLower(rand.Text()) }

package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"reflect"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// servedRetention is for how many seconds removed served records are kept, for IXFR to
// secondaries that were offline.
const servedRetention = 30 * 24 * 3600

// maxRemovedServed is how many removed served records of a zone are kept when it changes
// for the first time on a day, besides others of the oldest serial among them.
const maxRemovedServed = 10_000

// lockZone returns the zone and locks its row until the transaction ends. A transaction
// of atOnce locks nothing: announce requires that the zone is still the same.
func (s Zones) lockZone(ctx context.Context, tx *Tx, name deed.Name) (zoneRow, error) {
	if s.DB.dialect == postgres && tx.pool == nil { // SQLite has one writer
		// It is read by a second statement, which sees what the last holder of the lock wrote.
		if _, err := tx.ExecContext(ctx, `SELECT 1 FROM zones WHERE domain = $1 AND ended_at IS NULL FOR UPDATE`, name); err != nil {
			return zoneRow{}, err
		}
	}
	return s.DB.readZone(ctx, tx, name)
}

// writeZone stores the new state of a zone: records, served records, serial, history and
// outbox.
func (s Zones) writeZone(ctx context.Context, tx *Tx, z zoneRow, was dnszone.Zone) error {
	if hasAlias(was) || hasAlias(z.Zone) {
		if err := s.syncAliases(ctx, tx, z); err != nil {
			return err
		}
	}
	if err := s.serve(ctx, tx, z); err != nil {
		return err
	}
	added, deleted := writeRecords(tx, z, was)
	tx.queue(`
		INSERT INTO revisions (zone_id, serial, at, added, deleted, records) VALUES ($1, $2, $3, $4, $5, $6)`,
		z.id, z.Serial, s.Now().Unix(), added, deleted, len(z.Records))
	return nil
}

func writeRecords(tx *Tx, z zoneRow, was dnszone.Zone) (added, deleted int) {
	old := make(map[dnszone.RecordID]int, len(was.Records))
	for i, r := range was.Records {
		old[r.ID] = i
	}
	for _, r := range z.Records {
		i, known := old[r.ID]
		delete(old, r.ID)
		if known && (was.Records[i] == r || reflect.DeepEqual(was.Records[i], r)) { // most are the same value
			continue
		}
		if known {
			retireRecord(tx, z, r.ID)
			deleted++
		}
		insertRecord(tx, z, r, !known)
		added++
	}
	for id := range old {
		retireRecord(tx, z, id)
		deleted++
	}
	return added, deleted
}

func retireRecord(tx *Tx, z zoneRow, id dnszone.RecordID) {
	if stored, ok := z.stored[id]; ok {
		id = stored
	}
	tx.queue(`UPDATE records SET removed_serial = $1 WHERE zone_id = $2 AND id = $3 AND removed_serial IS NULL`, z.Serial, z.id, id)
}

// insertRecord inserts a record, or a new version of one. A fresh record whose ID was
// used in the zone before is refused with errUsedID.
func insertRecord(tx *Tx, z zoneRow, r dnszone.Record, fresh bool) {
	var distance any
	if r.Distance != nil {
		distance = *r.Distance
	}
	tx.require(errUsedID, `
		INSERT INTO records (zone_id, id, type, host, value, ttl, distance, created_at, updated_at, added_serial)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
		 WHERE $11 = 0 OR NOT EXISTS (SELECT 1 FROM records WHERE zone_id = $1 AND id = $2)`,
		z.id, r.ID, r.Type, r.Host, r.Value, r.TTL, distance, r.Created.Unix(), r.Updated.Unix(), z.Serial, boolInt(fresh))
}

// signatureTime returns the time of SignatureClock.
func (s Zones) signatureTime() time.Time {
	if s.SignatureClock == nil {
		return s.Now()
	}
	return s.SignatureClock()
}

// announce stores a new zone, or the new serial of one, and notifies other nodes.
func (s Zones) announce(tx *Tx, z zoneRow, renew, now time.Time) {
	if z.member != "" {
		older := fmt.Errorf("the new zone %s has the serial %d, and an earlier one had it or a larger one", z.Name, z.Serial)
		tx.requireFirst(older, insertZone, s.insertArgs(z, renew, now)...)
	} else {
		changed := fmt.Errorf("the zone %s is no longer as it was read, with serial %d", z.Name, z.storedSerial)
		tx.requireFirst(changed, `
			UPDATE zones SET serial = $1, renew_at = $2, changed_at = $3 WHERE id = $4 AND serial = $5 AND ended_at IS NULL`,
			z.Serial, unixOrZero(renew), now.UnixMilli(), z.id, z.storedSerial)
	}
	tx.queue(`
		INSERT INTO outbox (zone_id, serial, propagated_serial, next_at) VALUES ($1, $2, 0, $3)
		ON CONFLICT (zone_id) DO UPDATE SET serial = excluded.serial, next_at = excluded.next_at`, z.id, z.Serial, now.Unix())
	tx.notify(z.Name, z.Serial)
}

func readServed(ctx context.Context, from querier, zoneID string) (dnssec.ServedZone, error) {
	rows, err := from.QueryContext(ctx, `SELECT owner, type, ttl, data FROM served WHERE zone_id = $1 AND removed_serial IS NULL`, zoneID)
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	rrs, err := scanServed(rows)
	return dnssec.ServedZone{RRs: rrs}.Sorted(), err
}

// querier is implemented by transactions and pools.
func scanServed(rows *sql.Rows) (rrs []dnszone.RR, err error) {
	err = eachRow(rows, func() error {
		var rr dnszone.RR
		var data string
		if err := rows.Scan(&rr.Owner, &rr.Type, &rr.TTL, &data); err != nil {
			return err
		}
		raw, err := hex.DecodeString(data)
		rr.Data = string(raw)
		rrs = append(rrs, rr)
		return err
	})
	return rrs, err
}

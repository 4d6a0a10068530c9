package sqldb

import (
	"context"
	"encoding/hex"
	"slices"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// serve regenerates the served records of the zone, and stores the difference.
func (s Zones) serve(ctx context.Context, tx *Tx, z zoneRow) error {
	now := s.Now()
	prev, err := s.served(ctx, tx, z)
	if err != nil {
		return err
	}
	var aliases []dnszone.Alias
	if hasAlias(z.Zone) {
		if aliases, err = readAliases(ctx, tx, z.id); err != nil {
			return err
		}
	}
	next, err := s.Publishing.Serve(z.Zone, prev, dnssec.Serving{Keys: z.keys, Aliases: aliases, Now: s.signatureTime(), Since: now})
	if err != nil {
		return err
	}
	removed, added := prev.Diff(next)
	retireServed(tx, z, removed)
	rows := make([][]any, len(added))
	for i, rr := range added {
		rows[i] = []any{z.id, rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data)), z.Serial}
	}
	tx.queueRows("served", []string{"zone_id", "owner", "type", "ttl", "data", "added_serial"}, rows)
	if z.storedSerial/86400 != z.Serial/86400 { // once a day is enough
		tx.queue(`
			DELETE FROM served WHERE zone_id = $1 AND removed_serial IS NOT NULL AND (removed_serial < $2 OR removed_serial < (
				SELECT removed_serial FROM served WHERE zone_id = $1 AND removed_serial IS NOT NULL
				 ORDER BY removed_serial DESC LIMIT 1 OFFSET $3))`, z.id, int64(z.Serial)-servedRetention, maxRemovedServed-1)
	}
	s.announce(tx, z, next.RenewAt(), now)
	if z.stored == nil { // a node of this version reads and writes the records
		tx.zones = append(tx.zones, changedZone{string(z.Name), zoneContent{
			version: zoneVersion{z.id, z.Serial, now.UnixMilli()}, records: asStored(z.Records), served: next.RRs,
		}})
	}
	return nil
}

// asStored returns the records as they are when they are read again: sorted, with times in
// whole seconds.
func asStored(records []dnszone.Record) []dnszone.Record {
	stored := slices.Clone(records)
	for i, r := range stored {
		stored[i].Created, stored[i].Updated = timeOrZero(r.Created.Unix()), timeOrZero(r.Updated.Unix())
	}
	return sortRecords(stored)
}

// A changedZone is what a transaction has made of a zone.
type changedZone struct {
	name    string
	content zoneContent
}

// served returns the records that are served of the zone as it was read.
func (s Zones) served(ctx context.Context, tx *Tx, z zoneRow) (prev dnssec.ServedZone, err error) {
	if z.member != "" {
		return dnssec.ServedZone{Origin: string(z.Name)}, nil
	}
	var known bool
	if prev.RRs, known = s.DB.zones.find(string(z.Name)).servedOf(z.version()); !known {
		prev, err = readServed(ctx, tx, z.id)
	}
	prev.Origin = string(z.Name)
	return prev, err
}

// retireServed ends served records with the serial of the zone.
func retireServed(tx *Tx, z zoneRow, removed []dnszone.RR) {
	rows := make([][]any, len(removed))
	for i, rr := range removed {
		rows[i] = []any{rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data))}
	}
	for chunk := range tx.chunks(rows) {
		given, args := tx.rows(3, []string{"owner", "type", "ttl", "data"}, chunk)
		update := `
			UPDATE served SET removed_serial = $1 FROM ` + given + `
			 WHERE served.zone_id = $2 AND served.removed_serial IS NULL
			   AND served.owner = given.owner AND served.type = given.type AND served.ttl = given.ttl AND served.data = given.data`
		if tx.prepared == nil {
			// PostgreSQL would compare all records of the zone while it has no statistics of
			// the table. The row of the zone is changed first, so nobody else changes these.
			update = `
			UPDATE served SET removed_serial = $1 WHERE ctid = ANY(ARRAY(
				SELECT live.ctid FROM ` + given + `, LATERAL (
					SELECT s.ctid FROM served s
					 WHERE s.zone_id = $2 AND s.removed_serial IS NULL
					   AND s.owner = given.owner AND s.type = given.type AND s.ttl = given.ttl AND s.data = given.data OFFSET 0) live))`
		}
		tx.queue(update, append([]any{z.Serial, z.id}, args...)...)
	}
}

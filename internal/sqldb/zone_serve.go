package sqldb

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// serve regenerates the served records of the zone, and stores the difference.
func (s Zones) serve(ctx context.Context, tx *Tx, z zoneRow) error {
	now := s.Now()
	prev, err := readServed(ctx, tx, z.id)
	if err != nil {
		return err
	}
	prev.Origin = string(z.Name)
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
	if err := retireServed(ctx, tx, z, removed); err != nil {
		return err
	}
	rows := make([][]any, len(added))
	for i, rr := range added {
		rows[i] = []any{z.id, rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data)), z.Serial}
	}
	if err := insertRows(ctx, tx, "served (zone_id, owner, type, ttl, data, added_serial)", rows); err != nil {
		return err
	}
	if z.storedSerial/86400 != z.Serial/86400 { // once a day is enough
		_, err = tx.ExecContext(ctx, `DELETE FROM served WHERE zone_id = $1 AND removed_serial < $2`, z.id, int64(z.Serial)-servedRetention)
		if err != nil {
			return err
		}
	}
	return s.announce(ctx, tx, z, next.RenewAt(), now)
}

// retireServed ends served records with the serial of the zone.
func retireServed(ctx context.Context, tx *Tx, z zoneRow, removed []dnszone.RR) error {
	for chunk := range slices.Chunk(removed, rowsPerStatement) {
		those, args := make([]string, len(chunk)), []any{z.Serial, z.id}
		for i, rr := range chunk {
			n := len(args)
			those[i] = fmt.Sprintf("owner = $%d AND type = $%d AND ttl = $%d AND data = $%d", n+1, n+2, n+3, n+4)
			args = append(args, rr.Owner, rr.Type, rr.TTL, hex.EncodeToString([]byte(rr.Data)))
		}
		_, err := tx.ExecContext(ctx, `
			UPDATE served SET removed_serial = $1 WHERE zone_id = $2 AND removed_serial IS NULL AND (`+strings.Join(those, " OR ")+`)`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

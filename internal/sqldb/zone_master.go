package sqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"deed.example/deed/internal/dnssec"
)

var errOtherMaster = errors.New("the zones of this database are signed with keys from another secret: every node needs the same file")

// CheckMaster fails when this node lacks a master secret that keys of zones are derived
// from: what it signs would be bogus. The oldest secret must stay in the file even if no
// zone uses it any more, since registrars recognise orders by it. The first node stores
// its fingerprint.
func (s Zones) CheckMaster(ctx context.Context) error {
	known := s.Publishing.Fingerprints()
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO zone_master (id, fingerprint) VALUES (1, $1) ON CONFLICT DO NOTHING`, known[len(known)-1])
		if err != nil {
			return err
		}
		var first string
		if err := tx.QueryRowContext(ctx, `SELECT fingerprint FROM zone_master WHERE id = 1`).Scan(&first); err != nil {
			return err
		}
		if !slices.Contains(known, first) {
			return errOtherMaster
		}
		rows, err := tx.QueryContext(ctx, `
			SELECT DISTINCT master FROM zones WHERE ended_at IS NULL AND generation > 0 AND master <> ''
			 UNION SELECT master FROM key_rolls`)
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			var used string
			if err := rows.Scan(&used); err != nil || slices.Contains(known, used) {
				return err
			}
			return fmt.Errorf("the secret with the fingerprint %s is missing: %w", used, errOtherMaster)
		})
	})
}

// key returns the key that signs the zone, or the zero KeyID.
func (z zoneRow) key() dnssec.KeyID {
	if len(z.keys) == 0 {
		return dnssec.KeyID{}
	}
	return z.keys[0]
}

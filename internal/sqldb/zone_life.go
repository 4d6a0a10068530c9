package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"deed.example/deed"
)

// setDark stops serving the zone, or begins to serve it again.
func (s Zones) setDark(ctx context.Context, tx *Tx, name deed.Name, dark bool) error {
	now := s.Now()
	var since any
	if dark {
		since = now.Unix()
	}
	moved, err := touched(tx.ExecContext(ctx, `
		UPDATE zones SET dark_at = $1, changed_at = $2 WHERE domain = $3 AND ended_at IS NULL AND (dark_at IS NULL) = $4`,
		since, now.UnixMilli(), name, dark))
	if err != nil || !moved {
		return err
	}
	if err := bumpCatalog(ctx, tx, now); err != nil {
		return err
	}
	return s.DB.wake(ctx, tx, string(name))
}

// endZone ends the zone of a name that is no longer ours. Its records are gone,
// and the next owner of the name never sees them.
func (s Zones) endZone(ctx context.Context, tx *Tx, name deed.Name) error {
	now := s.Now()
	var id string
	var serial int64
	err := tx.QueryRowContext(ctx, `
		UPDATE zones SET ended_at = $1, changed_at = $2, serial = serial + 1 WHERE domain = $3 AND ended_at IS NULL
		RETURNING id, serial`,
		now.Unix(), now.UnixMilli(), name).Scan(&id, &serial)
	if err != nil {
		return err
	}
	for _, query := range []string{
		`UPDATE records SET died = $1 WHERE zone_id = $2 AND died IS NULL`,
		`DELETE FROM served WHERE zone_id = $2 AND born <= $1`,
		`DELETE FROM outbox WHERE zone_id = $2 AND serial <= $1`,
	} {
		if _, err := tx.ExecContext(ctx, query, serial, id); err != nil {
			return err
		}
	}
	if err := bumpCatalog(ctx, tx, now); err != nil {
		return err
	}
	return s.DB.wake(ctx, tx, string(name))
}

// relabel gives the zone a new label in the catalog, because the name changes
// hands: secondaries then forget what they know of it (RFC 9432, 5.4).
func (s Zones) relabel(ctx context.Context, tx *Tx, name deed.Name) error {
	_, err := tx.ExecContext(ctx, `UPDATE zones SET member = $1 WHERE domain = $2 AND ended_at IS NULL`, newMember(), name)
	if err != nil {
		return err
	}
	return bumpCatalog(ctx, tx, s.Now())
}

const dnskeyType = 48 // RFC 4034, 2

// CheckKeys fails when a zone is served with another key than this node would
// sign it with: parents name that key, and what this node signed would be bogus.
func (s Zones) CheckKeys(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	var name deed.Name
	var generation int
	var data string
	err := s.DB.read.QueryRowContext(ctx, `
		SELECT z.domain, z.generation, s.data FROM zones z JOIN served s ON s.zone_id = z.id
		 WHERE z.ended_at IS NULL AND z.generation > 0 AND s.type = $1 AND s.died IS NULL LIMIT 1`,
		dnskeyType).Scan(&name, &generation, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the key of a zone: %w", err)
	}
	key, err := deed.DeriveZoneKey(s.Publishing.Master, string(name), generation)
	if err == nil && hex.EncodeToString([]byte(key.DNSKEY().Data)) != data {
		err = errors.New("the zones of this database are signed with other keys than this node's: copy the file that dns.key names from a node that runs")
	}
	return err
}

// DueZones implements zone.Signatures: zones whose signatures must be renewed.
func (s Zones) DueZones(ctx context.Context, most int) ([]string, error) {
	return due(ctx, s.DB, `
		SELECT domain FROM zones WHERE renew_at <= $1 AND renew_at > 0 AND ended_at IS NULL ORDER BY renew_at LIMIT $2`, s.Now(), most)
}

// Resign implements zone.Signatures: the zone is served under a new serial, with
// new signatures where the old ones grow old.
func (s Zones) Resign(ctx context.Context, name deed.Name) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		z, err := s.holdZone(ctx, tx, name)
		if err != nil {
			return err
		}
		z.Serial = max(z.Serial+1, uint32(s.Now().Unix()))
		return s.serve(ctx, tx, z)
	})
}

// DueDelegations implements zone.Delegations.
func (s Zones) DueDelegations(ctx context.Context, servers []string, most int) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Patience)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT r.domain FROM registrations r JOIN zones z ON z.domain = r.domain
		 WHERE r.ds = '' AND r.nameservers = $1 AND r.status = $2 AND z.generation > 0 AND`+isServed+`
		 LIMIT $3`,
		strings.Join(servers, " "), deed.StatusActive, most)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// SetDS implements zone.Delegations.
func (s Zones) SetDS(ctx context.Context, name deed.Name, ds []deed.DS) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE registrations SET ds = $1 WHERE domain = $2`, dsColumn(ds), name)
		return err
	})
}

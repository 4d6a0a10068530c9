package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/zone"
)

// DueDelegations implements zone.Delegations. A name that is about to be compared with its
// registry waits for that, which would find the DS missing if it were stored meanwhile.
func (s Zones) DueDelegations(ctx context.Context, servers []string, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "r.domain", from: "registrations r JOIN zones z ON z.domain = r.domain", at: "r.ds_next_at",
		where: `r.ds = '' AND r.nameservers = $3 AND r.status = 'active' AND r.next_at > 0 AND z.generation > 0 AND` + isServed + `
			AND NOT EXISTS (SELECT 1 FROM delegation_moves m WHERE m.domain = r.domain AND m.reference = r.reference)
			AND NOT EXISTS (SELECT 1 FROM key_rolls k WHERE k.zone_id = z.id)`,
	}, s.Now(), limit, strings.Join(servers, " "))
}

// DSWait implements zone.Delegations.
func (s Zones) DSWait(ctx context.Context, name deed.Name) (w zone.DSWait, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var since, next int64
	err = s.DB.read.QueryRowContext(ctx, `SELECT ds_wait_since, ds_next_at FROM registrations WHERE domain = $1`, name).Scan(&since, &next)
	if errors.Is(err, sql.ErrNoRows) {
		return w, deed.Errorf(deed.CodeNotFound, "%s is not registered here", name)
	}
	return zone.DSWait{Since: timeOrZero(since), Next: timeOrZero(next)}, err
}

// SetDSWait implements zone.Delegations.
func (s Zones) SetDSWait(ctx context.Context, name deed.Name, w zone.DSWait) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE registrations SET ds_wait_since = $1, ds_next_at = $2 WHERE domain = $3`,
			w.Since.Unix(), w.Next.Unix(), name)
		return err
	})
}

// StoreDS implements zone.Delegations.
func (s Zones) StoreDS(ctx context.Context, name deed.Name, servers []string, ds []dnssec.DS) (stored bool, err error) {
	return s.setDS(ctx, name, ds, func(r lifecycle.Registration) bool { return lifecycle.SameServers(r.Nameservers, servers) })
}

// ReplaceDS implements zone.Delegations.
func (s Zones) ReplaceDS(ctx context.Context, name deed.Name, others, ds []dnssec.DS) (stored bool, err error) {
	return s.setDS(ctx, name, ds, func(r lifecycle.Registration) bool { return dnssec.AnyDS(r.DS, others) })
}

// setDS stores the DS of a name that fulfils the condition, unless its name servers are
// about to change.
func (s Zones) setDS(ctx context.Context, name deed.Name, ds []dnssec.DS, condition func(lifecycle.Registration) bool) (stored bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		stored, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrations SET ds = ds
			 WHERE domain = $1
			   AND NOT EXISTS (SELECT 1 FROM delegation_moves m WHERE m.domain = registrations.domain AND m.reference = registrations.reference)`,
			name))
		if err != nil || !stored {
			return err
		}
		r, err := readRegistration(ctx, tx, name) // the row is locked by the update above
		if stored = err == nil && condition(r); !stored {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE registrations SET ds = $1, next_at = CASE WHEN next_at > $2 THEN $2 ELSE next_at END WHERE domain = $3`,
			dsColumn(ds), s.signatureTime().Add(compareDelay).Unix(), name)
		return err
	})
	return stored, err
}

// SeeDS implements zone.Delegations.
func (s Zones) SeeDS(ctx context.Context, name deed.Name) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE registrations SET ds_seen_at = $1 WHERE domain = $2 AND ds_seen_at < $1`, s.signatureTime().Unix(), name)
		return err
	})
}

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"deed.example/deed/internal/dnssec"
)

// emptyRetention is how long after its end a zone is transferred as an empty one: as
// long as a secondary may serve it without hearing from the primary (the SOA's expire).
const emptyRetention = 14 * 24 * time.Hour

// Empty implements primary.Withdrawn. Its serial is the next one after the served
// zone's; setServing skips it when the zone is served again.
func (s Zones) Empty(ctx context.Context, origin string) (dnssec.ServedZone, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var serial uint32
	var ended, withdrawn sql.NullInt64
	err := s.DB.read.QueryRowContext(ctx, `
		SELECT serial, ended_at, withdrawn_at FROM zones WHERE domain = $1
		 ORDER BY CASE WHEN ended_at IS NULL THEN 0 ELSE 1 END, ended_at DESC LIMIT 1`, origin).Scan(&serial, &ended, &withdrawn)
	if errors.Is(err, sql.ErrNoRows) {
		return dnssec.ServedZone{}, notServed(origin)
	}
	if err != nil {
		return dnssec.ServedZone{}, err
	}
	switch {
	case !ended.Valid && withdrawn.Valid:
		serial++
	case !ended.Valid || s.Now().Sub(time.Unix(ended.Int64, 0)) > emptyRetention:
		return dnssec.ServedZone{}, notServed(origin)
	}
	return dnssec.Compose(dnssec.Composition{Origin: origin, Serial: serial, SOA: s.Publishing.SOA, Servers: s.Publishing.Servers})
}

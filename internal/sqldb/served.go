package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
)

// Served reads the zones that name servers serve. Fill both fields.
type Served struct {
	DB  *DB
	Now func() time.Time // for the serials of the catalog
}

// isServed is true for zones that have neither ended nor been withdrawn.
const isServed = ` z.ended_at IS NULL AND z.withdrawn_at IS NULL`

// Zone implements primary.Store and zone.Served. Of a zone that is cached, only the
// version is read.
func (s Served) Zone(ctx context.Context, origin string) (z dnssec.ServedZone, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	cached := s.DB.zones.find(origin)
	skip := cached.version
	rows, err := s.DB.query(ctx, `
		SELECT z.id, z.serial, z.changed_at, coalesce(s.owner, ''), coalesce(s.type, 0), coalesce(s.ttl, 0), coalesce(s.data, '')
		  FROM zones z LEFT JOIN served s ON s.zone_id = `+unlessVersion+` AND s.removed_serial IS NULL
		 WHERE z.domain = $1 AND`+isServed, origin, skip.id, skip.serial, skip.changed)
	if err != nil {
		return z, err
	}
	var v zoneVersion
	err = eachRow(rows, func() error {
		rr, err := scanRR(rows, &v.id, &v.serial, &v.changed)
		if err == nil && rr.Type != 0 {
			z.RRs = append(z.RRs, rr)
		}
		return err
	})
	z.Origin, z.Serial, z.Version = origin, v.serial, v.String()
	if known, ok := cached.servedOf(v); ok && err == nil {
		z.RRs = known
		return z, nil
	}
	if err == nil && len(z.RRs) == 0 {
		return dnssec.ServedZone{}, notServed(origin)
	}
	return z.Sorted(), err
}

// unlessVersion is the ID of a zone, or NULL if it has the version of $2, $3 and $4.
const unlessVersion = `CASE WHEN z.id = $2 AND z.serial = $3 AND z.changed_at = $4 THEN NULL ELSE z.id END`

// servedRecords selects the records of zones, as eachZone reads them.
const servedRecords = `
	SELECT z.domain, z.id, z.serial, z.changed_at, s.owner, s.type, s.ttl, s.data
	  FROM served s JOIN zones z ON z.id = s.zone_id
	 WHERE s.removed_serial IS NULL AND` + isServed

func notServed(origin string) error {
	return deed.Errorf(deed.CodeNotFound, "%s is not served here", origin)
}

// scanRR reads a record that follows the columns before.
func scanRR(rows *sql.Rows, before ...any) (rr dnszone.RR, err error) {
	var data string
	if err := rows.Scan(append(before, &rr.Owner, &rr.Type, &rr.TTL, &data)...); err != nil {
		return rr, err
	}
	raw, err := hex.DecodeString(data)
	rr.Data = string(raw)
	return rr, err
}

// zonesPerRead bounds a statement of All, which must end before PostgreSQL cancels it.
const zonesPerRead = 5_000

// All implements zone.Served. A zone that changes meanwhile may be yielded as it was
// before or after.
func (s Served) All(ctx context.Context, yield func(dnssec.ServedZone) error) error {
	return s.allBy(ctx, zonesPerRead, yield)
}

// allBy reads so many zones at a time.
func (s Served) allBy(ctx context.Context, zones int, yield func(dnssec.ServedZone) error) error {
	for after := ""; ; {
		var last sql.NullString
		err := s.DB.read.QueryRowContext(ctx, `
			SELECT max(id) FROM (SELECT z.id FROM zones z WHERE z.id > $1 AND`+isServed+` ORDER BY z.id LIMIT $2) page`, after, zones).Scan(&last)
		if err != nil || !last.Valid {
			return err
		}
		// Both tables are limited, or PostgreSQL reads all of served for each part.
		rows, err := s.DB.read.QueryContext(ctx, servedRecords+`
			AND z.id > $1 AND z.id <= $2 AND s.zone_id > $1 AND s.zone_id <= $2 ORDER BY s.zone_id`, after, last.String)
		if err != nil {
			return err
		}
		if err := eachZone(rows, yield); err != nil {
			return err
		}
		after = last.String
	}
}

// Some implements zone.Served.
func (s Served) Some(ctx context.Context, origins []string, yield func(dnssec.ServedZone) error) error {
	for chunk := range slices.Chunk(origins, zonesPerRead) {
		rows, err := s.DB.read.QueryContext(ctx, servedRecords+` AND `+s.DB.among("z.domain", "$1")+` ORDER BY s.zone_id`, array(s.DB, chunk))
		if err != nil {
			return err
		}
		if err := eachZone(rows, yield); err != nil {
			return err
		}
	}
	return nil
}

// eachZone reads the records of servedRecords, zone by zone.
func eachZone(rows *sql.Rows, yield func(dnssec.ServedZone) error) error {
	var z dnssec.ServedZone
	err := eachRow(rows, func() error {
		var origin string
		var v zoneVersion
		rr, err := scanRR(rows, &origin, &v.id, &v.serial, &v.changed)
		if err != nil {
			return err
		}
		if origin != z.Origin && z.Origin != "" {
			if err := yield(z.Sorted()); err != nil {
				return err
			}
			z = dnssec.ServedZone{}
		}
		z.Origin, z.Serial = origin, v.serial
		if z.Version == "" {
			z.Version = v.String()
		}
		z.RRs = append(z.RRs, rr)
		return nil
	})
	if err != nil || z.Origin == "" {
		return err
	}
	return yield(z.Sorted())
}

// Versions implements zone.Served.
func (s Served) Versions(ctx context.Context, yield func(origin, version string, changed time.Time)) error {
	rows, err := s.DB.read.QueryContext(ctx, `SELECT z.domain, z.id, z.serial, z.changed_at FROM zones z WHERE`+isServed)
	if err != nil {
		return err
	}
	return eachRow(rows, func() error {
		var origin string
		var v zoneVersion
		err := rows.Scan(&origin, &v.id, &v.serial, &v.changed)
		if err == nil {
			yield(origin, v.String(), time.UnixMilli(v.changed))
		}
		return err
	})
}

// Changed implements zone.Served. A name may have several zones, one after the other. They
// are in the order of the index that finds them.
func (s Served) Changed(ctx context.Context, since time.Time) (versions map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT domain, id, serial, changed_at, coalesce(withdrawn_at, 0), coalesce(ended_at, 0)
		  FROM zones WHERE changed_at >= $1 ORDER BY changed_at, id`, since.UnixMilli())
	if err != nil {
		return nil, err
	}
	versions = map[string]string{}
	err = eachRow(rows, func() error {
		var origin string
		var v zoneVersion
		var withdrawn, ended int64
		err := rows.Scan(&origin, &v.id, &v.serial, &v.changed, &withdrawn, &ended)
		version := v.String()
		if withdrawn != 0 || ended != 0 {
			version = fmt.Sprintln(version, withdrawn, ended)
		}
		versions[origin] += version
		return err
	})
	return versions, err
}

const soaType = 6 // RFC 1035, 3.2.2

// SOA implements primary.Store.
func (s Served) SOA(ctx context.Context, origin string) (rr dnszone.RR, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var data string
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT s.owner, s.type, s.ttl, s.data
		  FROM zones z JOIN served s ON s.zone_id = z.id
		 WHERE z.domain = $1 AND s.type = $2 AND s.removed_serial IS NULL AND`+isServed,
		origin, soaType).Scan(&rr.Owner, &rr.Type, &rr.TTL, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return rr, notServed(origin)
	}
	if err != nil {
		return rr, err
	}
	raw, err := hex.DecodeString(data)
	rr.Data = string(raw)
	return rr, err
}

// changedRecords selects what was added to a zone after a serial, and what was removed. Each
// has an index of its own: with OR instead of UNION, PostgreSQL reads the records of all zones.
const changedRecords = `
	SELECT z.serial, 0, s.owner, s.type, s.ttl, s.data
	  FROM zones z JOIN served s ON s.zone_id = z.id AND s.removed_serial IS NULL
	 WHERE z.domain = $1 AND s.added_serial > $2 AND` + isServed + `
	UNION ALL
	SELECT z.serial, 1, s.owner, s.type, s.ttl, s.data
	  FROM zones z JOIN served s ON s.zone_id = z.id AND s.removed_serial > $2
	 WHERE z.domain = $1 AND s.added_serial <= $2 AND` + isServed

// Changes implements primary.Store.
func (s Served) Changes(ctx context.Context, origin string, from uint32) (removed, added []dnszone.RR, serial uint32, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, changedRecords, origin, from)
	if err != nil {
		return nil, nil, 0, err
	}
	known := false
	err = eachRow(rows, func() error {
		var isRemoved int
		rr, err := scanRR(rows, &serial, &isRemoved)
		if isRemoved == 1 {
			known = known || rr.Type == soaType && soaSerial(rr) == from
			removed = append(removed, rr)
		} else {
			added = append(added, rr)
		}
		return err
	})
	if err == nil && !known {
		err = deed.Errorf(deed.CodeNotFound, "serial %d of %s is no longer available", from, origin)
	}
	// A record that was removed and added again is in both lists, and has not changed.
	removed, added = dnssec.ServedZone{RRs: removed}.Sorted().Diff(dnssec.ServedZone{RRs: added}.Sorted())
	return removed, added, serial, err
}

// soaSerial reads the serial of a SOA record, which ends with five 32-bit numbers.
func soaSerial(rr dnszone.RR) uint32 {
	tail := []byte(rr.Data[max(0, len(rr.Data)-20):])
	if len(tail) < 4 {
		return 0
	}
	return uint32(tail[0])<<24 | uint32(tail[1])<<16 | uint32(tail[2])<<8 | uint32(tail[3])
}

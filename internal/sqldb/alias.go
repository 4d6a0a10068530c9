package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/zone"
)

// syncAliases makes the rows of aliases those of the zone's ALIAS records. The worker
// looks new ones up.
func (s Zones) syncAliases(ctx context.Context, tx *Tx, z zoneRow) error {
	old, err := readAliases(ctx, tx, z.id)
	if err != nil {
		return err
	}
	for _, a := range old {
		if !slices.ContainsFunc(z.Records, func(r dnszone.Record) bool {
			return r.Type == dnszone.TypeAlias && r.Host == a.Host && r.Value == a.Target
		}) {
			if _, err := tx.ExecContext(ctx, `DELETE FROM aliases WHERE zone_id = $1 AND host = $2`, z.id, a.Host); err != nil {
				return err
			}
		}
	}
	for _, r := range z.Records {
		if r.Type != dnszone.TypeAlias {
			continue
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO aliases (zone_id, host, target, addresses, ttl, next_at) VALUES ($1, $2, $3, '', 0, $4) ON CONFLICT DO NOTHING`,
			z.id, r.Host, r.Value, s.Now().Unix())
		if err != nil {
			return err
		}
	}
	return nil
}

func hasAlias(z dnszone.Zone) bool {
	return slices.ContainsFunc(z.Records, func(r dnszone.Record) bool { return r.Type == dnszone.TypeAlias })
}

func readAliases(ctx context.Context, from querier, zoneID string) (list []dnszone.Alias, err error) {
	rows, err := from.QueryContext(ctx, `SELECT host, target, addresses, ttl FROM aliases WHERE zone_id = $1 ORDER BY host`, zoneID)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var a dnszone.Alias
		var addresses string
		if err := rows.Scan(&a.Host, &a.Target, &addresses, &a.TTL); err != nil {
			return err
		}
		a.Addresses, err = parseAddresses(addresses)
		list = append(list, a)
		return err
	})
	return list, err
}

func parseAddresses(text string) (list []netip.Addr, err error) {
	for word := range strings.FieldsSeq(text) {
		a, err := netip.ParseAddr(word)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func formatAddresses(list []netip.Addr) string {
	words := make([]string, len(list))
	for i, a := range list {
		words[i] = a.String()
	}
	return strings.Join(words, " ")
}

// aliasesAhead is among how many due rows zones take turns, so that not all are read each time
// when all are due.
const aliasesAhead = 4096

// DueAliases implements zone.Aliases. Zones take turns: the targets of one may answer slowly,
// or never, and are due again soon.
func (s Zones) DueAliases(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{
		id: "id", from: `(
			SELECT id, next_at, row_number() OVER (PARTITION BY zone_id ORDER BY next_at, id) AS turn
			  FROM (SELECT a.host || '/' || z.domain AS id, a.zone_id, a.next_at
			          FROM aliases a JOIN zones z ON z.id = a.zone_id
			         WHERE a.next_at <= $1 AND` + isServed + `
			         ORDER BY a.next_at LIMIT ` + strconv.Itoa(aliasesAhead) + `) ahead) d`,
		at: "next_at", order: "turn, next_at",
	}, s.Now(), limit)
}

// Alias implements zone.Aliases.
func (s Zones) Alias(ctx context.Context, name deed.Name, host string) (a zone.Alias, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var addresses string
	var changed, next int64
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT a.host, a.target, a.addresses, a.ttl, a.changed_at, a.changes, a.failures, a.next_at
		  FROM aliases a JOIN zones z ON z.id = a.zone_id
		 WHERE z.domain = $1 AND z.ended_at IS NULL AND a.host = $2`, name, host).
		Scan(&a.Host, &a.Target, &addresses, &a.TTL, &changed, &a.Changes, &a.Failures, &next)
	if errors.Is(err, sql.ErrNoRows) {
		return a, deed.Errorf(deed.CodeNotFound, "%s has no ALIAS at %s", name, host)
	}
	if err != nil {
		return a, err
	}
	a.Changed, a.Next = timeOrZero(changed), timeOrZero(next)
	a.Addresses, err = parseAddresses(addresses)
	return a, err
}

// SetAlias implements zone.Aliases: in one transaction the addresses are stored, and
// served under a new serial if they have changed.
func (s Zones) SetAlias(ctx context.Context, name deed.Name, a zone.Alias) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		z, err := s.lockZone(ctx, tx, name)
		if err != nil {
			return err
		}
		old, err := readAliases(ctx, tx, z.id)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(old, func(o dnszone.Alias) bool { return o.Host == a.Host && o.Target == a.Target })
		if i < 0 {
			return nil // it was changed meanwhile
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE aliases SET addresses = $1, ttl = $2, changed_at = $3, changes = $4, failures = $5, next_at = $6
			 WHERE zone_id = $7 AND host = $8`,
			formatAddresses(a.Addresses), a.TTL, unixOrZero(a.Changed), a.Changes, a.Failures, a.Next.Unix(), z.id, a.Host)
		if err != nil || slices.Equal(old[i].Addresses, a.Addresses) && old[i].TTL == a.TTL {
			return err
		}
		z.Serial = max(z.Serial+1, uint32(s.Now().Unix()))
		return s.serve(ctx, tx, z)
	})
}

// Forward returns the FORWARD record of a host, or CodeNotFound. A host has one zone at
// most: the name above it that is registered here.
func (s Zones) Forward(ctx context.Context, host string) (f dnszone.Forward, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	labels := strings.Split(host, ".")
	if len(labels) > dnszone.MaxForwardLabels {
		return f, deed.Errorf(deed.CodeNotFound, "%s is not forwarded", deed.Quoted(host))
	}
	args := []any{dnszone.TypeForward}
	names, pairs := make([]string, len(labels)), make([]string, len(labels))
	for i := range labels {
		relative := "@"
		if i > 0 {
			relative = strings.Join(labels[:i], ".")
		}
		names[i] = fmt.Sprintf("$%d", len(args)+1)
		pairs[i] = fmt.Sprintf("z.domain = $%d AND r.host = $%d", len(args)+1, len(args)+2)
		args = append(args, strings.Join(labels[i:], "."), relative)
	}
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT r.type, r.host, r.value, r.ttl, z.domain, g.owner
		  FROM zones z JOIN records r ON r.zone_id = z.id JOIN registrations g ON g.domain = z.domain
		 WHERE z.domain IN (`+strings.Join(names, ", ")+`) AND (`+strings.Join(pairs, " OR ")+`) AND r.removed_serial IS NULL AND r.type = $1 AND`+isServed,
		args...).Scan(&f.Record.Type, &f.Record.Host, &f.Record.Value, &f.Record.TTL, &f.Name, &f.Owner)
	if errors.Is(err, sql.ErrNoRows) {
		return f, deed.Errorf(deed.CodeNotFound, "%s is not forwarded", deed.Quoted(host))
	}
	return f, err
}

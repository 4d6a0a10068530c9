package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar/registry"
)

// Entry implements local.Store. One query reads the entry and whether an order is due;
// usually none is, and nothing is written.
func (s Registry) Entry(ctx context.Context, name deed.Name, at time.Time) (registry.Entry, error) {
	entry, due, err := s.entry(ctx, name, at)
	if err != nil || !due {
		return entry, err
	}
	if err := s.catchUp(ctx, name, at); err != nil {
		return registry.Entry{}, err
	}
	entry, _, err = s.entry(ctx, name, at)
	return entry, err
}

func (s Registry) entry(ctx context.Context, name deed.Name, at time.Time) (registry.Entry, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return scanEntry(s.DB.queryRow(ctx, selectEntry, name, at.Unix()))
}

// Ordered implements local.Store.
func (s Registry) Ordered(ctx context.Context, names []deed.Name) (ordered []deed.Name, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readAll(ctx, s.DB.prepared(), scanName, `SELECT name FROM registry_names WHERE `+s.DB.among("name", "$1"), array(s.DB, names))
}

// Change implements local.Store.
func (s Registry) Change(ctx context.Context, name deed.Name, at time.Time, change func(registry.Entry) (registry.Entry, error)) error {
	return s.withLockedName(ctx, name, func(ctx context.Context, tx *Tx) error {
		if _, err := executeDue(ctx, tx, name, at); err != nil {
			return err
		}
		held, _, err := scanEntry(tx.QueryRowContext(ctx, selectEntry, name, at.Unix()))
		if err != nil {
			return err
		}
		next, err := change(held)
		if err != nil {
			return err
		}
		return saveEntry(ctx, tx, next, held)
	})
}

// Entries implements local.Store.
func (s Registry) Entries(ctx context.Context, account string, after deed.Name, limit int, at time.Time) (entries []registry.Entry, err error) {
	if err := s.catchUpAll(ctx, at); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT `+entryColumns+`
		  FROM registry_names n
		 WHERE account = $1 AND name > $3 AND expires_at + 86400 * (grace_days + $4) > $2
		 ORDER BY name LIMIT $5`,
		account, at.Unix(), after, lifecycle.RedemptionDays+lifecycle.PendingDeleteDays, limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		e, _, err := scanEntry(rows)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}

// catchUpAll executes the due orders of all names.
func (s Registry) catchUpAll(ctx context.Context, at time.Time) error {
	for !s.DB.readOnly {
		name, err := s.nextDue(ctx, at)
		if err != nil || name == "" {
			return err
		}
		if err := s.catchUp(ctx, name, at); err != nil {
			return err
		}
	}
	return nil
}

// nextDue returns a name with a due order, or "".
func (s Registry) nextDue(ctx context.Context, at time.Time) (name deed.Name, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.queryRow(ctx, `
		SELECT name FROM registry_orders WHERE state = 'placed' AND due_at <= $1 ORDER BY due_at LIMIT 1`,
		at.Unix()).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return name, err
}

// entryColumns are the columns of registry_names n, its pending transfer, and whether an
// order for the name is due by $2. The states are literals, so that the partial indexes of
// placed orders are used.
const entryColumns = `
	n.name, coalesce(n.reference, ''), coalesce(n.account, ''), n.created_at, n.moved_at, n.expires_at,
	n.grace_days, n.locked, n.auth_hash, n.nameservers, n.glue, n.ds, n.registrant,
	coalesce((SELECT o.reference FROM registry_orders o WHERE o.name = n.name AND o.state = 'placed' AND o.accepted_at IS NOT NULL), ''),
	EXISTS (SELECT 1 FROM registry_orders o WHERE o.name = n.name AND o.state = 'placed' AND o.due_at <= $2)`

const selectEntry = `SELECT ` + entryColumns + ` FROM registry_names n WHERE name = $1`

// An entryRow has the entryColumns.
type entryRow struct {
	e                       registry.Entry
	created, moved, expires sql.NullInt64
	hosts, glue, ds         string
	due                     bool
}

// columns returns where to scan the entryColumns.
func (r *entryRow) columns() []any {
	return []any{
		&r.e.Name, &r.e.Reference, &r.e.Account, &r.created, &r.moved, &r.expires,
		&r.e.GraceDays, &r.e.Locked, &r.e.AuthHash, &r.hosts, &r.glue, &r.ds, &r.e.Registrant, &r.e.Transfer, &r.due,
	}
}

// entry returns the zero entry for a name that was never registered.
func (r *entryRow) entry() (e registry.Entry, err error) {
	if r.e.Reference == "" {
		return registry.Entry{}, nil
	}
	e = r.e
	e.Created, e.Moved, e.Expires = nullableTime(r.created), nullableTime(r.moved), nullableTime(r.expires)
	e.Nameservers = strings.Fields(r.hosts)
	if e.Glue, err = lifecycle.ParseGlue(r.glue); err != nil {
		return e, err
	}
	e.DS, err = parseDS(r.ds)
	return e, err
}

// scanEntry returns the zero entry for a name that was never registered.
func scanEntry(row scanner) (e registry.Entry, due bool, err error) {
	var r entryRow
	err = row.Scan(r.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Entry{}, false, nil // no order was ever placed for it
	}
	if err != nil {
		return registry.Entry{}, false, err
	}
	e, err = r.entry()
	return e, r.due, err
}

const insertEntry = `
	INSERT INTO registry_names (reference, account, created_at, moved_at, expires_at, grace_days, locked, auth_hash, nameservers, ds, glue, registrant, name)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// entryValues returns the values that insertEntry and saveEntry store.
func entryValues(e registry.Entry) []any {
	return []any{
		e.Reference, e.Account, e.Created.Unix(), secondsOrNull(e.Moved), e.Expires.Unix(), e.GraceDays, boolInt(e.Locked), e.AuthHash,
		strings.Join(e.Nameservers, " "), formatDS(e.DS), e.Glue.String(), e.Registrant, e.Name,
	}
}

// saveEntry replaces held by the entry. The caller has locked the row.
func saveEntry(ctx context.Context, tx *Tx, e, held registry.Entry) error {
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE registry_names
		   SET reference = $1, account = $2, created_at = $3, moved_at = $4, expires_at = $5, grace_days = $6, locked = $7, auth_hash = $8,
		       nameservers = $9, ds = $10, glue = $11, registrant = $12
		 WHERE name = $13 AND coalesce(reference, '') = $14`,
		append(entryValues(e), held.Reference)...))
	if err == nil && !moved {
		err = fmt.Errorf("%s was changed although its row was locked", e.Name)
	}
	return err
}

// formatDS and parseDS use the presentation format of zone files (RFC 4034, 5.3).
func formatDS(keys []dnssec.DS) string {
	var lines []string
	for _, k := range keys {
		lines = append(lines, fmt.Sprintf("%d %d %d %s", k.KeyTag, k.Algorithm, k.DigestType, k.Digest))
	}
	return strings.Join(lines, ",")
}

func parseDS(text string) (keys []dnssec.DS, err error) {
	for line := range strings.SplitSeq(text, ",") {
		if line == "" {
			continue
		}
		var k dnssec.DS
		if _, err := fmt.Sscan(line, &k.KeyTag, &k.Algorithm, &k.DigestType, &k.Digest); err != nil {
			return nil, fmt.Errorf("read the key %q: %w", line, err)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// Delegated returns every name that the registry delegates at the time, sorted: those
// with name servers and not on hold.
func (s Registry) Delegated(ctx context.Context, at time.Time, limit int) (entries []registry.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT name, nameservers, glue, ds FROM registry_names
		 WHERE nameservers <> '' AND expires_at + 86400 * grace_days > $1 ORDER BY name LIMIT $2`, at.Unix(), limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var e registry.Entry
		var hosts, glue, ds string
		if err := rows.Scan(&e.Name, &hosts, &glue, &ds); err != nil {
			return err
		}
		e.Nameservers = strings.Fields(hosts)
		if e.Glue, err = lifecycle.ParseGlue(glue); err != nil {
			return err
		}
		e.DS, err = parseDS(ds)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

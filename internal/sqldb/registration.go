package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/event"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
)

// Registrations stores registrations. Fill every field.
type Registrations struct {
	DB    *DB
	Now   func() time.Time // the registry's clock
	Zones Zones            // of the names
}

// Backends returns the registrars that have names or open orders, sorted. It reads one row
// of the index of names for each of them, however many names there are.
func (s Registrations) Backends(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readAll(ctx, s.DB.read, scanText, selectBackends)
}

const selectBackends = `
	WITH RECURSIVE held (backend) AS (
	       SELECT min(backend) FROM registrations WHERE backend > ''
	       UNION ALL SELECT (SELECT min(r.backend) FROM registrations r WHERE r.backend > held.backend) FROM held WHERE held.backend IS NOT NULL)
	SELECT backend FROM held WHERE backend IS NOT NULL
	UNION SELECT backend FROM jobs WHERE next_at IS NOT NULL AND backend <> ''
	ORDER BY 1`

// insertRegistration queues the registration of a completed job, and its event. Their
// times are those of the registry's clock. The name may have had our servers until an
// earlier registration of it ended.
func (s Jobs) insertRegistration(tx *Tx, j order.Job, r lifecycle.Registration) {
	tx.queue(`
		INSERT INTO registrations (domain, owner, status, reference, backend, payment_id, created_at, expires_at, updated_at,
		                           locked_at, nameservers, ds, premium_renewal, glue, next_at, compared_at, our_servers_until)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, $9,
		        coalesce((SELECT max(ended_at) FROM former_registrations WHERE domain = $1), 0))`,
		r.Name, r.Owner, r.Status, r.Reference, r.Backend, r.PaymentID, r.Created.Unix(), r.Expires.Unix(), r.Updated.Unix(),
		lockedAt(r.Locked, r.Updated), strings.Join(r.Nameservers, " "), dsColumn(r.DS), r.PremiumRenewal, r.Glue.String())
	happened := lifecycle.Event{Name: r.Name, Reference: r.Reference, Type: lifecycle.EventRegistered, At: r.Created, About: r.Expires}
	if j.Purchase.Kind == order.PurchaseTransfer {
		happened.Type, happened.At = lifecycle.EventTransferredIn, r.Updated // it was created long before
	}
	tx.queue(insertEvent, eventArgs(happened)...)
	tx.emit(event.OfRegistration(happened, r.Owner))
}

// extendRegistration extends the expiry of a name, and stores the price of a premium name
// if it has changed. When the name was transferred away during its renewal there is no row
// to update, and the renewal was delivered anyway. When Lifecycle has stored the new expiry
// first, the event is still recorded.
func (s Jobs) extendRegistration(ctx context.Context, tx *Tx, j order.Job, r lifecycle.Registration) error {
	var reference string
	var owner deed.Wallet
	var status lifecycle.Status
	err := tx.QueryRowContext(ctx, `
		UPDATE registrations SET expires_at = $1, status = CASE WHEN status = $5 THEN status ELSE $2 END, updated_at = $3, next_at = 0,
		       phase = '', phase_at = 0, premium_renewal = CASE WHEN premium_renewal <> $6 AND $6 > 0 THEN $6 ELSE premium_renewal END
		 WHERE domain = $4 AND expires_at <= $1
		RETURNING reference, owner, status`,
		r.Expires.Unix(), lifecycle.StatusActive, r.Updated.Unix(), r.Name, lifecycle.StatusSuspended, r.PremiumRenewal).Scan(&reference, &owner, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.Zones.setServing(ctx, tx, r.Name, status.Resolves()); err != nil {
		return err
	}
	return addEvent(ctx, tx, lifecycle.Event{Name: r.Name, Reference: reference, Type: lifecycle.EventRenewed, At: r.Updated, About: j.Until}, owner)
}

const insertEvent = `
	INSERT INTO events (reference, type, about_at, domain, at) VALUES ($1, $2, $3, $4, $5)
	ON CONFLICT DO NOTHING`

func eventArgs(e lifecycle.Event) []any {
	return []any{e.Reference, e.Type, e.About.Unix(), e.Name, e.At.Unix()}
}

// addEvent stores what happened to a name, once, and tells its owner.
func addEvent(ctx context.Context, tx *Tx, e lifecycle.Event, owner deed.Wallet) error {
	isNew, err := rowsAffected(tx.ExecContext(ctx, insertEvent, eventArgs(e)...))
	if isNew {
		tx.emit(event.OfRegistration(e, owner))
	}
	return err
}

func lockedAt(locked bool, now time.Time) any {
	if locked {
		return now.Unix()
	}
	return nil
}

func dsColumn(ds []dnssec.DS) string {
	if len(ds) == 0 {
		return ""
	}
	text, err := json.Marshal(ds)
	if err != nil {
		panic(err) // plain data: cannot fail
	}
	return string(text)
}

// scanDS reads what dsColumn has written.
func scanDS(column string) (ds []dnssec.DS, err error) {
	if column != "" {
		err = json.Unmarshal([]byte(column), &ds)
	}
	return ds, err
}

// dsSeen sets ds_seen_at in an update that sets ds, if that removes a DS, or one was seen later.
// A DS that goes with the name servers that have its key is not one that resolvers would miss.
func dsSeen(ds, nameservers, now, seen string) string {
	return fmt.Sprintf(`ds_seen_at = CASE WHEN ds <> '' AND ds <> %s AND nameservers = %s THEN %s WHEN %s > ds_seen_at THEN %s ELSE ds_seen_at END`, ds, nameservers, now, seen, seen)
}

// selectRegistration needs a WHERE clause appended.
const selectRegistration = `
	SELECT domain, owner, status, reference, backend, payment_id, created_at, expires_at, updated_at,
	       locked_at, nameservers, ds, premium_renewal, glue, epp_status, phase, phase_at, cancelling_at, roid, verify, verify_by, compared_at, ds_seen_at, our_servers_until
	  FROM registrations `

func scanRegistration(row scanner) (r lifecycle.Registration, err error) {
	var created, expires, updated int64
	var locked, cancelling sql.NullInt64
	var nameservers, ds, glue, statuses, verify string
	var since, verifyBy, compared, seen, ours int64
	err = row.Scan(&r.Name, &r.Owner, &r.Status, &r.Reference, &r.Backend, &r.PaymentID, &created, &expires, &updated,
		&locked, &nameservers, &ds, &r.PremiumRenewal, &glue, &statuses, &r.Registry.Phase, &since, &cancelling,
		&r.Registry.ROID, &verify, &verifyBy, &compared, &seen, &ours)
	if err != nil {
		return r, err
	}
	r.Created, r.Expires, r.Updated, r.Compared = timeOrZero(created), timeOrZero(expires), timeOrZero(updated), timeOrZero(compared)
	r.DSSeen, r.OurServersUntil = timeOrZero(seen), timeOrZero(ours)
	r.Locked, r.Nameservers, r.Cancelling = locked.Valid, strings.Fields(nameservers), cancelling.Valid
	r.Registry.Statuses, r.Registry.Since = strings.Fields(statuses), timeOrZero(since)
	r.Registry.Verification = lifecycle.Verification{Claims: strings.Fields(verify), Deadline: timeOrZero(verifyBy)}
	if r.Glue, err = lifecycle.ParseGlue(glue); err != nil {
		return r, err
	}
	r.DS, err = scanDS(ds)
	return r, err
}

// Registration implements registration.Names.
func (s Registrations) Registration(ctx context.Context, name deed.Name) (lifecycle.Registration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	return readRegistration(ctx, s.DB.prepared(), name)
}

func readRegistration(ctx context.Context, from rowQuerier, name deed.Name) (lifecycle.Registration, error) {
	r, err := scanRegistration(from.QueryRowContext(ctx, selectRegistration+`WHERE domain = $1`, name))
	if errors.Is(err, sql.ErrNoRows) {
		return r, deed.Errorf(deed.CodeNotFound, "%s is not registered here", name)
	}
	return r, err
}

// BackendOf implements registrar.Holder.
func (s Registrations) BackendOf(ctx context.Context, name deed.Name) (backend string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.queryRow(ctx, `
		SELECT backend FROM registrations WHERE domain = $1
		UNION ALL
		SELECT j.backend FROM claims c JOIN jobs j ON j.id = c.job_id WHERE c.domain = $1
		LIMIT 1`, name).Scan(&backend)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return backend, err
}

// Taken implements registration.Names and catalog.Names.
func (s Registrations) Taken(ctx context.Context, names []deed.Name, buyer deed.Wallet) (taken []deed.Name, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	registered, claimed, arg := s.DB.among("domain", "$1"), s.DB.among("c.domain", "$1"), array(s.DB, names)
	if len(names) == 1 { // of an order
		registered, claimed, arg = "domain = $1", "c.domain = $1", string(names[0])
	}
	return readAll(ctx, s.DB.prepared(), scanName, `
		SELECT domain FROM registrations WHERE `+registered+`
		UNION ALL
		SELECT c.domain FROM claims c JOIN jobs j ON j.id = c.job_id
		 WHERE `+claimed+`
		   AND (j.owner <> $2 OR j.state NOT IN ('awaiting_payment', 'queued', 'submitting', 'verifying'))`,
		arg, buyer)
}

// Ordered reports whether an order for the name is in progress.
func (s Registrations) Ordered(ctx context.Context, name deed.Name) (ordered bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.queryRow(ctx, `SELECT count(*) > 0 FROM claims WHERE domain = $1`, name).Scan(&ordered)
	return ordered, err
}

// HasOpenOrder implements registration.LifecycleStore.
func (s Registrations) HasOpenOrder(ctx context.Context, name deed.Name) (open bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT count(*) > 0 FROM jobs
		 WHERE domain = $1 AND state IN ('awaiting_payment', 'queued', 'submitting', 'verifying') AND kind NOT LIKE 'dns%'`, name).Scan(&open)
	return open, err
}

// ForEach calls f for every registration, sorted by name, with the transaction that paid
// for it. PaymentID is the public ID. All calls see one snapshot of the database.
func (s Registrations) ForEach(ctx context.Context, f func(r lifecycle.Registration, txHash string) error) error {
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT r.domain, r.owner, r.status, r.reference, r.backend, p.public_id, r.created_at, r.expires_at, r.updated_at,
		       r.locked_at, r.nameservers, r.ds, r.premium_renewal, r.glue, r.epp_status, r.phase, r.phase_at, r.cancelling_at,
		       r.roid, r.verify, r.verify_by, r.compared_at, r.ds_seen_at, r.our_servers_until, p.tx_hash
		  FROM registrations r JOIN payments p ON p.id = r.payment_id
		 ORDER BY r.domain`)
	if err != nil {
		return err
	}
	return eachRow(rows, func() error {
		var txHash string
		r, err := scanRegistration(extraColumn{rows, &txHash})
		if err != nil {
			return err
		}
		return f(r, txHash)
	})
}

// extraColumn scans one additional column at the end of a row.
type extraColumn struct {
	scanner
	last any
}

func (l extraColumn) Scan(into ...any) error { return l.scanner.Scan(append(into, l.last)...) }

// DueNames implements registration.LifecycleStore.
func (s Registrations) DueNames(ctx context.Context, backend string, limit int) ([]string, error) {
	q := dueQuery{id: "domain", from: "registrations", at: "next_at", where: "cancelling_at IS NULL"}
	if backend == "" {
		return due(ctx, s.DB, q, s.Now(), limit)
	}
	q.where += " AND backend = $3"
	return due(ctx, s.DB, q, s.Now(), limit, backend)
}

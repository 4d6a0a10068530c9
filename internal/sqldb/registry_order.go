package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

const placementColumns = `
	reference, kind, name, years, nameservers, from_at, restore, auth_hash, account, grace_days,
	state, refusal, reason, placed_at, due_at, accepted_at, created_at, expires_at`

const selectPlacement = `SELECT ` + placementColumns + ` FROM registry_orders WHERE reference = $1`

// selectPlacementAndEntry selects an order with the entry of its name.
const selectPlacementAndEntry = `
	SELECT p.*, ` + entryColumns + ` FROM (` + selectPlacement + `) p JOIN registry_names n ON n.name = p.name`

// selectDue selects the first due order of a name, and how many there are.
const selectDue = `
	SELECT ` + placementColumns + `, count(*) OVER ()
	  FROM registry_orders
	 WHERE name = $1 AND state = 'placed' AND due_at <= $2
	 ORDER BY due_at, reference LIMIT 1`

// readPlacement is scanPlacement for an order by its reference. It fails with CodeNotFound.
func readPlacement(reference string, row *sql.Row, more ...any) (registry.Placement, error) {
	p, err := scanPlacement(row, more...)
	if errors.Is(err, sql.ErrNoRows) {
		return registry.Placement{}, deed.Errorf(deed.CodeNotFound, "there is no order %s", reference)
	}
	return p, err
}

// scanPlacement reads the columns of an order, and those after them into more.
func scanPlacement(row *sql.Row, more ...any) (p registry.Placement, err error) {
	var hosts string
	var placed, due int64
	var from, accepted, created, expires sql.NullInt64
	err = row.Scan(append([]any{&p.Reference, &p.Kind, &p.Name, &p.Years, &hosts, &from, &p.Restore, &p.AuthHash, &p.Account, &p.GraceDays,
		&p.State, &p.Refusal, &p.Reason, &placed, &due, &accepted, &created, &expires}, more...)...)
	if err != nil {
		return registry.Placement{}, err
	}
	p.Nameservers = strings.Fields(hosts)
	p.From, p.Accepted = nullableTime(from), nullableTime(accepted)
	p.Placed, p.Due = time.Unix(placed, 0).UTC(), time.Unix(due, 0).UTC()
	p.Created, p.Expires = nullableTime(created), nullableTime(expires)
	if p.State == registry.PlacementDone && p.Kind == registrar.OrderRegister && !created.Valid {
		// Completed by a version that did not store the dates; compute them.
		p.Created, p.Expires = p.Due, p.Due.AddDate(p.Years, 0, 0)
	}
	return p, nil
}

// insertPlacement stores an order, unless its reference exists.
const insertPlacement = `
	INSERT INTO registry_orders (` + placementColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
	ON CONFLICT (reference) DO NOTHING`

// placementValues returns the placementColumns of an order.
func placementValues(p registry.Placement) []any {
	return []any{
		p.Reference, p.Kind, p.Name, p.Years, strings.Join(p.Nameservers, " "), secondsOrNull(p.From), boolInt(p.Restore), p.AuthHash, p.Account, p.GraceDays,
		p.State, p.Refusal, p.Reason, p.Placed.Unix(), p.Due.Unix(), secondsOrNull(p.Accepted), secondsOrNull(p.Created), secondsOrNull(p.Expires),
	}
}

// savePlacement updates the state of a placed order.
func savePlacement(ctx context.Context, tx *Tx, p registry.Placement) error {
	moved, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE registry_orders
		   SET state = $1, refusal = $2, reason = $3, due_at = $4, accepted_at = $5, created_at = $6, expires_at = $7
		 WHERE reference = $8 AND state = $9`,
		p.State, p.Refusal, p.Reason, p.Due.Unix(), secondsOrNull(p.Accepted), secondsOrNull(p.Created), secondsOrNull(p.Expires),
		p.Reference, registry.PlacementPlaced))
	if err == nil && !moved {
		err = fmt.Errorf("order %s was changed although the row of %s was locked", p.Reference, p.Name)
	}
	return err
}

// nullableTime and secondsOrNull convert a time that may be NULL.
func nullableTime(seconds sql.NullInt64) time.Time {
	if !seconds.Valid {
		return time.Time{}
	}
	return time.Unix(seconds.Int64, 0).UTC()
}

func secondsOrNull(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.Unix(), Valid: !t.IsZero()}
}

// boolInt converts a bool for a BIGINT column.
func boolInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

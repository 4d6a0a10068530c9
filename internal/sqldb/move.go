package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registration"
)

// Moves stores changes of name servers that wait. Fill every field.
type Moves struct {
	DB  *DB
	Now func() time.Time // the registry's clock
}

// Move implements registration.Moves.
func (s Moves) Move(ctx context.Context, name deed.Name) (m lifecycle.Move, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var hosts, glue, ds string
	var effective, created, refused int64
	err = s.DB.read.QueryRowContext(ctx, `
		SELECT domain, reference, wallet, step, hosts, glue, ds, effective_at, created_at, refused_at FROM delegation_moves WHERE domain = $1`, name).
		Scan(&m.Name, &m.Reference, &m.Wallet, &m.Step, &hosts, &glue, &ds, &effective, &created, &refused)
	if errors.Is(err, sql.ErrNoRows) {
		return m, deed.Errorf(deed.CodeNotFound, "the name servers of %s are not being changed", name)
	}
	if err != nil {
		return m, err
	}
	m.Hosts, m.EffectiveAt, m.Created = strings.Fields(hosts), time.Unix(effective, 0).UTC(), time.Unix(created, 0).UTC()
	m.Refused = timeOrZero(refused)
	if m.DS, err = scanDS(ds); err != nil {
		return m, err
	}
	m.Glue, err = lifecycle.ParseGlue(glue)
	return m, err
}

// moveTime is how long the request that begins a move has to make it, if the move does not
// wait; after that a worker makes it. Whoever makes a move that is replaced meanwhile has as
// long to end.
const moveTime = time.Minute

// PutMove implements registration.Moves.
func (s Moves) PutMove(ctx context.Context, m lifecycle.Move, replaced *lifecycle.Move, event lifecycle.EventType) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		condition, next := "", m.EffectiveAt
		if now := s.Now(); !next.After(now) {
			next = now.Add(moveTime)
		}
		args := []any{m.Name, m.Reference, m.Wallet, m.Step, strings.Join(m.Hosts, " "), m.EffectiveAt.Unix(), m.Created.Unix(), m.Glue.String(), dsColumn(m.DS), next.Unix(), unixOrZero(m.Refused)}
		if replaced != nil {
			condition = `
			 WHERE delegation_moves.step = $12 AND delegation_moves.hosts = $13 AND delegation_moves.effective_at = $14 AND delegation_moves.glue = $15`
			args = append(args, moveKey(*replaced)[1:]...) // of the same name
		}
		stored, err := rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO delegation_moves (domain, reference, wallet, step, hosts, effective_at, next_at, created_at, glue, ds, refused_at) VALUES ($1, $2, $3, $4, $5, $6, $10, $7, $8, $9, $11)
			ON CONFLICT (domain) DO UPDATE SET reference = excluded.reference, wallet = excluded.wallet, step = excluded.step,
			       hosts = excluded.hosts, glue = excluded.glue, ds = excluded.ds, effective_at = excluded.effective_at, next_at = excluded.next_at, created_at = excluded.created_at, refused_at = excluded.refused_at`+condition,
			args...))
		if err == nil && !stored && event != "" {
			return s.addMoveEvent(ctx, tx, m, event) // the registry has changed the servers, whatever the owner wants since
		}
		if err != nil || !stored {
			return err
		}
		if err := s.expectChange(ctx, tx, m, event); err != nil || event == lifecycle.EventDSWithdrawn {
			return err
		}
		return s.addMoveEvent(ctx, tx, m, event)
	})
}

// insertMove queues the move of a name that was transferred to us, and whose buyer wants other
// name servers than it has: it may be signed with keys that these do not have.
func (s Jobs) insertMove(tx *Tx, j order.Job, r lifecycle.Registration) {
	hosts := j.Purchase.Nameservers
	if j.Purchase.Kind != order.PurchaseTransfer || len(hosts) == 0 {
		return
	}
	tx.queue(`
		INSERT INTO delegation_moves (domain, reference, wallet, step, hosts, effective_at, next_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $6, $6)
		ON CONFLICT (domain) DO UPDATE SET reference = excluded.reference, wallet = excluded.wallet, step = excluded.step, hosts = excluded.hosts, glue = '', ds = '',
		       effective_at = excluded.effective_at, next_at = excluded.next_at, created_at = excluded.created_at, refused_at = 0`,
		r.Name, r.Reference, r.Owner, lifecycle.MoveWithdrawing, strings.Join(hosts, " "), r.Updated.Unix())
}

// expectChange has the name compared with its registry soon, since the answer of the registry
// to the move may be lost. With EventDSWithdrawn it stores when the DS was removed.
func (s Moves) expectChange(ctx context.Context, tx *Tx, m lifecycle.Move, event lifecycle.EventType) error {
	now := s.Now()
	seen := int64(0)
	if event == lifecycle.EventDSWithdrawn {
		seen = now.Unix()
	}
	_, err := tx.ExecContext(ctx, `
		UPDATE registrations SET next_at = CASE WHEN next_at > $1 THEN $1 ELSE next_at END, ds_seen_at = CASE WHEN $2 > ds_seen_at THEN $2 ELSE ds_seen_at END
		 WHERE domain = $3 AND reference = $4`,
		now.Add(compareDelay).Unix(), seen, m.Name, m.Reference)
	return err
}

// EndMove implements registration.Moves. A move that was replaced meanwhile stays.
func (s Moves) EndMove(ctx context.Context, m lifecycle.Move, event lifecycle.EventType) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		ended, err := rowsAffected(tx.ExecContext(ctx, `DELETE FROM delegation_moves `+sameMove, moveKey(m)...))
		if err != nil || !ended {
			return err
		}
		return s.addMoveEvent(ctx, tx, m, event)
	})
}

// sameMove is the condition of a move that was not replaced; its values are by moveKey.
const sameMove = `WHERE domain = $1 AND step = $2 AND hosts = $3 AND effective_at = $4 AND glue = $5`

func moveKey(m lifecycle.Move) []any {
	return []any{m.Name, m.Step, strings.Join(m.Hosts, " "), m.EffectiveAt.Unix(), m.Glue.String()}
}

// DelayMove implements registration.Moves.
func (s Moves) DelayMove(ctx context.Context, m lifecycle.Move, d registration.MoveDelay) (delayed bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		delayed, err = rowsAffected(tx.ExecContext(ctx, `UPDATE delegation_moves SET next_at = $6, refused_at = $7 `+sameMove+` AND refused_at = $8`,
			append(moveKey(m), d.Until.Unix(), unixOrZero(d.Refused), unixOrZero(m.Refused))...))
		if err != nil || !delayed {
			return err
		}
		return s.addMoveEvent(ctx, tx, m, d.Event)
	})
	return delayed, err
}

// Refused counts the moves that the registry has refused.
func (s Moves) Refused(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	err = s.DB.read.QueryRowContext(ctx, `SELECT count(*) FROM delegation_moves WHERE refused_at > 0`).Scan(&n)
	return n, err
}

// DueMoves implements registration.Moves. A node of an earlier version does not store when a
// move is looked at.
func (s Moves) DueMoves(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "domain", from: "delegation_moves", at: "next_at", where: `(effective_at <= $1 OR step = 'withdrawing'
		   AND EXISTS (SELECT 1 FROM registrations r WHERE r.domain = delegation_moves.domain AND r.owner <> delegation_moves.wallet))`}, s.Now(), limit)
}

// leaveMove makes the move of a former owner due, so that it is canceled. A request that has
// just begun it has its time to end first.
func leaveMove(ctx context.Context, tx *Tx, r lifecycle.Registration, now time.Time) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE delegation_moves SET next_at = $1 WHERE domain = $2 AND reference = $3 AND step = $4 AND next_at > $1`,
		now.Add(moveTime).Unix(), r.Name, r.Reference, lifecycle.MoveWithdrawing)
	return err
}

func (s Moves) addMoveEvent(ctx context.Context, tx *Tx, m lifecycle.Move, event lifecycle.EventType) error {
	if event == "" {
		return nil
	}
	r, err := readRegistration(ctx, tx, m.Name)
	if deed.CodeOf(err) == deed.CodeNotFound {
		return nil // it has ended
	}
	if err != nil {
		return err
	}
	now := s.Now()
	return addEvent(ctx, tx, lifecycle.Event{Name: m.Name, Reference: m.Reference, Type: event, At: now, About: now}, r.Owner)
}

package sqldb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
	"deed.example/deed/internal/order"
)

// Operators implements operator.Finder, operator.Log, operator.Rows and
// operator.Rules. Fill every field.
type Operators struct {
	DB       *DB
	Now      func() time.Time
	Zones    Zones
	Payments Payments
	Jobs     Jobs
}

const selectFound = `
	SELECT p.id, p.public_id, coalesce(j.public_id, ''), p.kind, p.domain, p.payer, p.amount, p.state, coalesce(j.state, ''),
	       p.tx_hash, p.refund_tx, p.created_at, p.changed_at, p.cause
	  FROM payments p LEFT JOIN jobs j ON j.payment_id = p.id
	 WHERE p.alias_of IS NULL AND `

// finders are the columns that a query may name. One statement with all of them would
// read the whole table.
var finders = []string{`p.public_id = $1`, `j.public_id = $1`, `p.id = $1`, `j.id = $1`, `p.refund_id = $1`, `p.payer = $1`, `j.domain = $1`, `p.tx_hash = $1`, `p.refund_tx = $1`}

// Find implements operator.Finder.
func (s Operators) Find(ctx context.Context, query string, limit int) (all []operator.Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, max(s.DB.Timeout, findTimeout))
	defer cancel()
	for _, where := range finders {
		rows, err := s.DB.read.QueryContext(ctx, selectFound+where+` ORDER BY p.created_at DESC, p.id LIMIT $2`, query, limit)
		if err != nil {
			return nil, err
		}
		err = eachRow(rows, func() error {
			f, err := scanFound(rows)
			if !slices.ContainsFunc(all, func(g operator.Found) bool { return g.Internal == f.Internal }) {
				all = append(all, f)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b operator.Found) int { return b.Created.Compare(a.Created) })
	return all[:min(len(all), limit)], nil
}

// findTimeout is for the columns without an index: those of transactions.
const findTimeout = 20 * time.Second

func scanFound(rows *sql.Rows) (f operator.Found, err error) {
	var created, changed int64
	err = rows.Scan(&f.Internal, &f.PaymentID, &f.JobID, &f.Kind, &f.Domain, &f.Wallet, &f.Amount, &f.PaymentState, &f.JobState, &f.TxHash, &f.RefundTx, &created, &changed, &f.Cause)
	f.Created, f.Changed = timeOrZero(created), timeOrZero(changed)
	return f, err
}

// Timeline implements operator.Finder.
func (s Operators) Timeline(ctx context.Context, f operator.Found) (all []operator.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	all = []operator.Entry{{At: f.Created, What: fmt.Sprintf("payment %s of %s USDC authorized", f.PaymentID, f.Amount)}}
	for _, q := range []struct {
		query string
		arg   string
	}{
		{`SELECT at, 'ledger: ' || entry FROM ledger WHERE payment_id = $1 AND amount > 0 ORDER BY at, CASE entry WHEN 'settled' THEN 0 ELSE 1 END`, f.Internal},
		{`SELECT at / 1000, 'operator ' || operator || ': ' || action || ' (' || reason || '): ' || outcome FROM operator_actions WHERE target = $1 ORDER BY at`, f.PaymentID},
	} {
		rows, err := s.DB.read.QueryContext(ctx, q.query, q.arg)
		if err != nil {
			return nil, err
		}
		err = eachRow(rows, func() error {
			var at int64
			var m operator.Entry
			err := rows.Scan(&at, &m.What)
			m.At = timeOrZero(at)
			all = append(all, m)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	steps, err := s.steps(ctx, order.JobID(f.Internal))
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		all = append(all, operator.Entry{At: step.At.UTC(), What: "job: " + string(step.State)})
	}
	if f.Cause != "" {
		all = append(all, operator.Entry{At: f.Changed, What: "waits: " + f.Cause})
	}
	slices.SortStableFunc(all, func(a, b operator.Entry) int { return a.At.Compare(b.At) })
	return all, nil
}

// steps returns the steps of a job, and none if there is no such job.
func (s Operators) steps(ctx context.Context, id string) ([]order.Step, error) {
	var text string
	err := s.DB.read.QueryRowContext(ctx, `SELECT steps FROM jobs WHERE id = $1`, id).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readSteps(text)
}

// Record implements operator.Log.
func (s Operators) Record(ctx context.Context, a operator.Action) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO operator_actions (id, at, operator, action, target, reason, outcome) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			rand.Text(), a.At.UnixMilli(), a.Operator, a.Action, a.Target, a.Reason, a.Outcome)
		return err
	})
}

// Actions implements operator.Log.
func (s Operators) Actions(ctx context.Context, limit int) (all []operator.Action, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT at, operator, action, target, reason, outcome FROM operator_actions ORDER BY at DESC, id LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var a operator.Action
		var at int64
		err := rows.Scan(&at, &a.Operator, &a.Action, &a.Target, &a.Reason, &a.Outcome)
		a.At = time.UnixMilli(at)
		all = append(all, a)
		return err
	})
	return all, err
}

// Wake implements operator.Rows. A payment that only waits for its job has no time of
// its own.
func (s Operators) Wake(ctx context.Context, f operator.Found) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		now := s.Now().Unix()
		for _, query := range []string{
			`UPDATE payments SET next_at = $1 WHERE id = $2 AND next_at IS NOT NULL AND state <> 'unclaimed'`,
			`UPDATE jobs SET next_at = $1 WHERE payment_id = $2 AND next_at IS NOT NULL`,
		} {
			if _, err := tx.ExecContext(ctx, query, now, f.Internal); err != nil {
				return err
			}
		}
		return nil
	})
}

// FailQueued implements operator.Rows. The move fails when the job has left the state
// in between.
func (s Operators) FailQueued(ctx context.Context, f operator.Found) (bool, error) {
	j, err := s.Jobs.Job(ctx, order.JobID(f.Internal))
	if err != nil || j.State != order.JobQueued {
		return false, err
	}
	j.Failure = "the operator of the service has ended this order: the money goes back"
	if err := s.Jobs.FailJob(ctx, j); err != nil {
		return false, err
	}
	j, err = s.Jobs.Job(ctx, j.ID)
	return j.State == order.JobFailed, err
}

// Refund implements operator.Rows.
func (s Operators) Refund(ctx context.Context, f operator.Found) error {
	p, err := s.Payments.Payment(ctx, f.Internal)
	if err != nil {
		return err
	}
	if p.State != f.PaymentState {
		return errors.New("it has changed meanwhile: look at it again")
	}
	p, err = s.Payments.MovePayment(ctx, p, order.PaymentRefundDue, "")
	if err == nil && p.State != order.PaymentRefundDue {
		err = fmt.Errorf("it is %s by now", p.State)
	}
	return err
}

// Dust implements operator.Rows.
func (s Operators) Dust(ctx context.Context, w deed.Wallet) (count int, sum deed.USDC, err error) {
	dust, err := s.Payments.Dust(ctx, w)
	for _, p := range dust {
		sum += p.Auth.Amount
	}
	return len(dust), sum, err
}

// RefundDust implements operator.Rows.
func (s Operators) RefundDust(ctx context.Context, w deed.Wallet) error {
	dust, err := s.Payments.Dust(ctx, w)
	if err != nil {
		return err
	}
	for _, p := range dust {
		if _, err := s.Payments.MovePayment(ctx, p, order.PaymentRefundDue, ""); err != nil {
			return fmt.Errorf("make %s due for refund: %w", p.PublicID, err)
		}
	}
	return nil
}

// SetBlocked implements operator.Rules.
func (s Operators) SetBlocked(ctx context.Context, w deed.Wallet, blocked bool, reason string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if !blocked {
			_, err := tx.ExecContext(ctx, `DELETE FROM blocked_wallets WHERE wallet = $1`, w)
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO blocked_wallets (wallet, reason, blocked_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, w, reason, s.Now().Unix())
		return err
	})
}

// SetStopped implements operator.Rules.
func (s Operators) SetStopped(ctx context.Context, activity string, stopped bool, reason string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if !stopped {
			_, err := tx.ExecContext(ctx, `DELETE FROM stop_switches WHERE name = $1`, activity)
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO stop_switches (name, reason, stopped_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, activity, reason, s.Now().Unix())
		return err
	})
}

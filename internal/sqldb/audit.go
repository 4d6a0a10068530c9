package sqldb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// Audit checks the invariants of the database. Fill the field.
type Audit struct{ DB *DB }

// A Finding is an invariant and the number of its violations.
type Finding struct {
	Invariant string
	Broken    int
}

// An invariant is a query that must return zero. The names of tables in braces stand
// for all their rows, or for those that changed lately.
type invariant struct{ name, query string }

// invariants are those of payments, jobs, names and sessions.
var invariants = []invariant{
	{"a payment has at most one job", `
		SELECT count(*) FROM (SELECT payment_id FROM {jobs} j GROUP BY payment_id HAVING count(*) > 1) d`},
	{"the payment of a job in progress is settled", `
		SELECT count(*) FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		 WHERE j.state IN ('queued', 'submitting', 'verifying') AND p.state <> 'settled'`},
	{"a job is completed if and only if its payment is consumed, or a part of it was refunded", `
		SELECT count(*) FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		 WHERE (j.state = 'completed') <> (p.state = 'consumed' OR p.refund_label <> '')`},
	{"a job is failed if and only if its payment is refunded", `
		SELECT count(*) FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		 WHERE (j.state = 'failed') <> (p.state IN ('refund_due', 'refunding', 'refunded') AND p.refund_label = '')`},
	{"a job is cancelled if and only if its payment is void or released", `
		SELECT count(*) FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		 WHERE (j.state = 'cancelled') <> (p.state IN ('void', 'released'))`},
	{"an unsolicited transfer buys nothing", `
		SELECT count(*) FROM {payments} p
		 WHERE p.state IN ('unclaimed', 'dust') AND (p.kind <> 'nothing' OR EXISTS (SELECT 1 FROM jobs j WHERE j.payment_id = p.id))`},
	{"a payment for a purchase has a job", `
		SELECT count(*) FROM {payments} p LEFT JOIN jobs j ON j.payment_id = p.id
		 WHERE p.kind <> 'nothing' AND p.alias_of IS NULL AND p.state IN ('settling', 'settled', 'consumed') AND j.id IS NULL`},
	{"the owner of a name is its payer, or the wallet it was handed over to", `
		SELECT count(*) FROM {registrations} r JOIN payments p ON p.id = r.payment_id
		 WHERE p.state <> 'consumed' AND p.refund_label = '' OR r.domain <> p.domain OR p.kind NOT IN ('registration', 'transfer')
		    OR r.owner <> coalesce((SELECT a.detail FROM owner_actions a WHERE a.reference = r.reference AND a.action = 'handover'
		                             ORDER BY a.n DESC LIMIT 1), p.payer)`},
	{"a consumed registration payment has a registration, current or former", `
		SELECT count(*) FROM {payments} p
		 WHERE (p.state = 'consumed' OR p.refund_label <> '') AND p.kind IN ('registration', 'transfer')
		   AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.payment_id = p.id)
		   AND NOT EXISTS (SELECT 1 FROM former_registrations f WHERE f.payment_id = p.id)`},
	{"a name does not expire before the end of its last renewal", `
		SELECT count(*) FROM {registrations} r JOIN jobs j ON j.domain = r.domain
		 WHERE j.kind = 'renewal' AND j.state = 'completed' AND j.created_at >= r.created_at AND r.expires_at < j.until_at
		   AND NOT (` + isMissing + `)
		   AND NOT EXISTS (SELECT 1 FROM events e WHERE e.reference = r.reference AND e.type = 'corrected_by_registry')`},
	{"an active mandate is of the owner of its name", `
		SELECT count(*) FROM {mandates} m LEFT JOIN registrations r ON r.domain = m.domain
		 WHERE m.state = 'active' AND (r.reference IS NULL OR r.reference <> m.reference OR r.owner <> m.owner)`},
	{"a mandate that pays or has paid is one payment of its owner, name and amount", `
		SELECT count(*) FROM {mandates} m LEFT JOIN payments p ON p.id = m.payment_id
		 WHERE m.payment_id <> '' AND (p.id IS NULL OR p.source <> 'mandate' OR p.payer <> m.owner OR p.domain <> m.domain OR p.amount <> m.amount OR p.kind <> 'renewal')`},
	{"a mandate is used if and only if its payment is consumed", `
		SELECT count(*) FROM {mandates} m JOIN payments p ON p.id = m.payment_id
		 WHERE (m.state = 'used') <> (p.state = 'consumed' OR p.refund_label <> '')
		    OR (m.state = 'paying') <> (p.state IN ('authorized', 'settling', 'settled'))`},
	{"every open order has a claim", `
		SELECT count(*) FROM {jobs} j LEFT JOIN claims c ON c.job_id = j.id
		 WHERE c.job_id IS NULL
		   AND (j.state IN ('submitting', 'verifying') OR j.kind IN ('registration', 'transfer') AND j.state IN ('awaiting_payment', 'queued'))`},
	{"every claim has an open order, or a name to delete", `
		SELECT count(*) FROM claims c LEFT JOIN jobs j ON j.id = c.job_id
		 WHERE j.id IS NULL OR j.domain <> c.domain
		    OR j.state NOT IN ('awaiting_payment', 'queued', 'submitting', 'verifying')
		       AND NOT EXISTS (SELECT 1 FROM late_orders l WHERE l.job_id = j.id AND l.state = 'deleting')
		       AND NOT EXISTS (SELECT 1 FROM cancellations x WHERE x.domain = c.domain AND x.payment_id = j.payment_id AND x.state = 'deleting')`},
	{"a name is being cancelled if and only if its cancellation is open, and has its claim", `
		SELECT (SELECT count(*) FROM {registrations} r
		         WHERE (r.cancelling_at IS NOT NULL) <> EXISTS (SELECT 1 FROM cancellations c WHERE c.reference = r.reference AND c.state = 'deleting'))
		     + (SELECT count(*) FROM cancellations c LEFT JOIN claims k ON k.domain = c.domain LEFT JOIN jobs j ON j.id = k.job_id
		         WHERE c.state = 'deleting' AND (j.payment_id IS NULL OR j.payment_id <> c.payment_id))`},
	{"a registration was cancelled if and only if it ended and its payer was refunded, less the fee", `
		SELECT (SELECT count(*) FROM {cancellations} c JOIN payments p ON p.id = c.payment_id
		         WHERE (c.state = 'done') <> (p.refund_label = 'undo' AND p.refund_amount = c.paid - c.fee AND p.amount = c.paid AND p.payer = c.wallet
		               AND EXISTS (SELECT 1 FROM former_registrations f WHERE f.reference = c.reference AND f.payment_id = c.payment_id AND f.reason = 'cancelled')
		               AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.reference = c.reference)))
		     + (SELECT count(*) FROM {payments} p WHERE p.refund_label = 'undo' AND p.kind <> 'nothing' AND NOT EXISTS (SELECT 1 FROM cancellations c WHERE c.payment_id = p.id AND c.state = 'done'))
		     + (SELECT count(*) FROM {payments} p JOIN former_registrations f ON f.payment_id = p.id WHERE f.reason = 'cancelled'
		           AND NOT EXISTS (SELECT 1 FROM cancellations c WHERE c.reference = f.reference AND c.state = 'done'))`},
	{"an order that failed after it was placed is looked up", `
		SELECT count(*) FROM {jobs} j LEFT JOIN late_orders l ON l.job_id = j.id
		 WHERE j.state = 'failed' AND j.attempts > 0 AND j.kind IN ('registration', 'renewal', 'transfer') AND l.job_id IS NULL`},
	{"every ledger entry sums to zero", `
		SELECT count(*) FROM (SELECT 1 FROM {payments} p JOIN ledger l ON l.payment_id = p.id GROUP BY l.payment_id, l.entry HAVING sum(l.amount) <> 0) d`},
	{"a payment is in the ledger as settled if and only if it has a transaction", `
		SELECT count(*) FROM {payments} p
		 WHERE (p.tx_hash <> '') <> EXISTS (SELECT 1 FROM ledger l WHERE l.payment_id = p.id AND l.entry = 'settled' AND l.account = 'treasury' AND l.amount = p.amount)`},
	{"consumed and refunded payments match the ledger", `
		SELECT count(*) FROM {payments} p
		 WHERE (p.state = 'consumed' OR p.refund_label <> '') <> EXISTS (SELECT 1 FROM ledger l WHERE l.payment_id = p.id AND l.entry = 'consumed')
		    OR (p.state = 'refunded') <> EXISTS (SELECT 1 FROM ledger l WHERE l.payment_id = p.id AND l.entry = 'refunded' AND l.account = 'owed' AND l.amount = ` + refundAmount + `)
		    OR (p.refund_label <> '') <> EXISTS (SELECT 1 FROM ledger l WHERE l.payment_id = p.id AND l.entry = 'returned' AND l.account = 'revenue'
		                                            AND l.amount = p.refund_amount AND l.reason = p.refund_reason)`},
	{"the owed balance equals the payments that are neither consumed nor refunded", `
		SELECT CASE WHEN coalesce((SELECT sum(-l.amount) FROM {payments} p JOIN ledger l ON l.payment_id = p.id WHERE l.account = 'owed'), 0) =
		                 coalesce((SELECT sum(` + refundAmount + `) FROM {payments} p WHERE state IN ('settled', 'unclaimed', 'dust', 'refund_due', 'refunding')), 0)
		            THEN 0 ELSE 1 END`},
	{"the attempts of a refund are consecutive", `
		SELECT count(*) FROM (SELECT purpose FROM {attempts} a WHERE purpose LIKE 'refund%' GROUP BY chain, purpose HAVING count(*) <> max(attempt)) d`},
	{"only payments due for refund have refund attempts", `
		SELECT (SELECT count(*) FROM {payments} p JOIN attempts a ON a.chain = p.chain_id AND a.purpose = 'refund ' || substr(p.asset, 3) || ' ' || p.id
		         WHERE p.state NOT IN ('refund_due', 'refunding', 'refunded'))
		     + (SELECT count(*) FROM {payments} p
		          JOIN attempts a ON a.chain = p.chain_id AND a.purpose = rtrim('refund ' || substr(p.asset, 3) || ' ' || p.payer || ' ' || p.nonce || ' ' || p.refund_label)
		         WHERE p.state NOT IN ('refund_due', 'refunding', 'refunded'))`},
	{"the nonces of our wallets have no gaps", `
		SELECT count(*) FROM signers s
		 WHERE (SELECT count(DISTINCT nonce) FROM {transactions} t WHERE t.chain = s.chain AND t.signer = s.address) +
		       (SELECT coalesce(sum(last_nonce - first_nonce + 1), 0) FROM {foreign_nonces} f WHERE f.chain = s.chain AND f.signer = s.address) -
		       (SELECT count(DISTINCT t.nonce) FROM {transactions} t JOIN foreign_nonces f ON f.chain = t.chain AND f.signer = t.signer
		                AND t.nonce BETWEEN f.first_nonce AND f.last_nonce WHERE t.chain = s.chain AND t.signer = s.address) <>
		       (SELECT coalesce(max(nonce) - min(nonce) + 1, 0) FROM {transactions} t WHERE t.chain = s.chain AND t.signer = s.address)`},
	{"no job is open an hour after its deadline", `
		SELECT count(*) FROM jobs WHERE next_at IS NOT NULL AND deadline_at < updated_at - 3600`},
	{"a session has at most one active refresh token", `
		SELECT count(*) FROM (SELECT family FROM refresh_tokens WHERE used_at IS NULL AND ended_at IS NULL GROUP BY family HAVING count(*) > 1) d`},
}

// Run checks every invariant, of all rows.
func (a Audit) Run(ctx context.Context) ([]Finding, error) { return a.RunSince(ctx, time.Time{}) }

// RunSince checks every invariant, of the rows that changed since a time.
func (a Audit) RunSince(ctx context.Context, since time.Time) ([]Finding, error) {
	all := slices.Concat(invariants, zoneInvariants)
	findings := make([]Finding, 0, len(all))
	for _, i := range all {
		f := Finding{Invariant: i.name}
		query, args := i.since(since)
		if err := a.DB.read.QueryRowContext(ctx, query, args...).Scan(&f.Broken); err != nil {
			return nil, fmt.Errorf("audit %q: %w", i.name, err)
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// Open counts payments, jobs and cancellations that have not ended.
func (a Audit) Open(ctx context.Context) (n int, err error) {
	err = a.DB.read.QueryRowContext(ctx, `
		SELECT (SELECT count(*) FROM payments WHERE next_at IS NOT NULL) +
		       (SELECT count(*) FROM payments WHERE state = 'settled') +
		       (SELECT count(*) FROM jobs WHERE next_at IS NOT NULL) +
		       (SELECT count(*) FROM cancellations WHERE next_at IS NOT NULL)`).Scan(&n)
	return n, err
}

// Newest returns when a payment changed last; zero if there is none.
func (a Audit) Newest(ctx context.Context) (t time.Time, err error) {
	var at int64
	if err = a.DB.read.QueryRowContext(ctx, `SELECT coalesce(max(changed_at), 0) FROM payments`).Scan(&at); err != nil || at == 0 {
		return t, err
	}
	return time.Unix(at, 0).UTC(), nil
}

// Moved implements fulfil.Ledger.
func (a Audit) Moved(ctx context.Context, since time.Time) (map[string]order.Movement, error) {
	moved := map[string]order.Movement{}
	err := a.movements(ctx, func(m order.Movement) { moved[m.PaymentID] = m }, `
		SELECT p.id, p.payer, p.amount, p.tx_hash, p.state FROM payments p
		 WHERE p.tx_hash <> '' AND p.changed_at >= $1
		   AND EXISTS (SELECT 1 FROM ledger l WHERE l.payment_id = p.id AND l.entry = 'settled' AND l.at >= $1)`, unixOrZero(since))
	return moved, err
}

// Movement implements fulfil.Ledger.
func (a Audit) Movement(ctx context.Context, id string) (found order.Movement, ok bool, err error) {
	err = a.movements(ctx, func(m order.Movement) { found, ok = m, true }, `
		SELECT id, payer, amount, tx_hash, state FROM payments WHERE id = $1 AND tx_hash <> ''`, id)
	return found, ok, err
}

// Refunds implements fulfil.Ledger.
func (a Audit) Refunds(ctx context.Context, since time.Time) (refunds []order.Movement, err error) {
	err = a.movements(ctx, func(m order.Movement) { refunds = append(refunds, m) }, `
		SELECT id, payer, `+refundAmount+`, refund_tx, state FROM payments WHERE state IN ('refunding', 'refunded') AND changed_at >= $1`, unixOrZero(since))
	return refunds, err
}

// RefundsIn implements fulfil.Ledger.
func (a Audit) RefundsIn(ctx context.Context, txHash string) (refunds []order.Movement, err error) {
	err = a.movements(ctx, func(m order.Movement) { refunds = append(refunds, m) }, `
		SELECT id, payer, `+refundAmount+`, refund_tx, state FROM payments WHERE state = 'refunded' AND refund_tx = $1`, txHash)
	return refunds, err
}

func (a Audit) movements(ctx context.Context, add func(order.Movement), query string, args ...any) error {
	rows, err := a.DB.read.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, func() error {
		var m order.Movement
		if err := rows.Scan(&m.PaymentID, &m.Payer, &m.Amount, &m.TxHash, &m.State); err != nil {
			return err
		}
		add(m)
		return nil
	})
}

// A Notice is not an error, but something that an operator should know.
type Notice struct {
	About string
	Count int
	Sum   deed.USDC
	Since time.Time // of the oldest
	Why   string    // of the oldest
}

// notices are queries for what is waiting: the count, the sum, since when and why.
var notices = []invariant{
	{"payments wait for the chain", `
		SELECT count(*), coalesce(sum(amount), 0), coalesce(min(changed_at), 0),
		       coalesce((SELECT cause FROM payments WHERE state IN ('authorized', 'settling') AND next_at IS NOT NULL ORDER BY changed_at LIMIT 1), '')
		  FROM payments WHERE state IN ('authorized', 'settling') AND next_at IS NOT NULL`},
	{"refunds wait for the chain", `
		SELECT count(*), coalesce(sum(` + refundAmount + `), 0), coalesce(min(changed_at), 0),
		       coalesce((SELECT cause FROM payments WHERE state IN ('refund_due', 'refunding') AND next_at IS NOT NULL ORDER BY changed_at LIMIT 1), '')
		  FROM payments WHERE state IN ('refund_due', 'refunding') AND next_at IS NOT NULL`},
	{"came without a request and waits for its payer", `
		SELECT count(*), coalesce(sum(amount), 0), coalesce(min(created_at), 0), '' FROM payments WHERE state = 'unclaimed' AND lost_at IS NULL`},
	{"was settled by us and has no request: run deed admin restore finish", `
		SELECT count(*), coalesce(sum(amount), 0), coalesce(min(created_at), 0), '' FROM payments WHERE state = 'unclaimed' AND lost_at IS NOT NULL`},
	{"came without a request and is too little to send back", `
		SELECT count(*), coalesce(sum(amount), 0), coalesce(min(created_at), 0), '' FROM payments WHERE state = 'dust'`},
	{"was put aside by the watcher", `
		SELECT count(*), coalesce(sum(amount), 0), coalesce(min(at), 0), coalesce((SELECT reason FROM put_aside ORDER BY at LIMIT 1), '') FROM put_aside`},
	{"names are held by a registry for nobody: their orders were executed after the refund", `
		SELECT count(*), coalesce(sum(p.amount), 0), coalesce(min(l.found_at), 0),
		       coalesce((SELECT domain || ': ' || detail FROM late_orders WHERE state IN ('held', 'deleting') ORDER BY found_at LIMIT 1), '')
		  FROM late_orders l JOIN jobs j ON j.id = l.job_id JOIN payments p ON p.id = j.payment_id WHERE l.state IN ('held', 'deleting')`},
	{"renewals were executed after the refund: the owners keep the years", `
		SELECT count(*), coalesce(sum(p.amount), 0), coalesce(min(l.found_at), 0),
		       coalesce((SELECT domain || ': ' || detail FROM late_orders WHERE state = 'unpaid' ORDER BY found_at LIMIT 1), '')
		  FROM late_orders l JOIN jobs j ON j.id = l.job_id JOIN payments p ON p.id = j.payment_id WHERE l.state = 'unpaid'`},
	{"names are not held by their registry: ask it, they stay suspended", `
		SELECT count(*), 0, coalesce(min(updated_at), 0), coalesce((SELECT domain FROM registrations WHERE ` + isMissing + ` ORDER BY updated_at LIMIT 1), '')
		  FROM registrations WHERE ` + isMissing},
	{"orders wait for their registry", `
		SELECT count(*), coalesce(sum(p.amount), 0), coalesce(min(j.submitted_at), 0),
		       coalesce((SELECT cause FROM jobs WHERE cause <> '' AND next_at IS NOT NULL ORDER BY submitted_at LIMIT 1), '')
		  FROM jobs j JOIN payments p ON p.id = j.payment_id WHERE j.cause <> '' AND j.next_at IS NOT NULL`},
}

// Notices returns the notices with a count above zero.
func (a Audit) Notices(ctx context.Context) (all []Notice, err error) {
	for _, q := range notices {
		n := Notice{About: q.name}
		var at int64
		if err := a.DB.read.QueryRowContext(ctx, q.query).Scan(&n.Count, &n.Sum, &at, &n.Why); err != nil {
			return nil, fmt.Errorf("read notice %q: %w", q.name, err)
		}
		if n.Since = time.Unix(at, 0); n.Count > 0 {
			all = append(all, n)
		}
	}
	return all, nil
}

package sqldb

import (
	"strings"
	"time"
)

// recent defines, by $1 in Unix seconds, what changed lately: payments, and whatever
// belongs to them or to their names. An order that has not ended is always recent.
// Revisions leave out ten minutes, so that the payment of each is recent, too. Of the
// transactions of a wallet the last 10,000 nonces are recent, which have no gaps if
// each is one, or belongs to a foreign transaction.
const recent = `
WITH recent_payments AS (
	SELECT * FROM payments WHERE changed_at >= $1),
recent_jobs AS (
	SELECT j.* FROM jobs j WHERE j.next_at IS NOT NULL
	UNION SELECT j.* FROM recent_payments p JOIN jobs j ON j.payment_id = p.id),
recent_zones AS (
	SELECT z.* FROM zones z WHERE z.changed_at >= $1 * 1000
	UNION SELECT z.* FROM recent_payments p JOIN zones z ON z.domain = p.domain),
recent_revisions AS (
	SELECT v.* FROM recent_zones z JOIN revisions v ON v.zone_id = z.id WHERE v.at >= $1 + 600),
recent_registrations AS (
	SELECT r.* FROM registrations r WHERE r.updated_at >= $1
	UNION SELECT r.* FROM recent_zones z JOIN registrations r ON r.domain = z.domain
	UNION SELECT r.* FROM recent_payments p JOIN registrations r ON r.domain = p.domain
	UNION SELECT r.* FROM cancellations c JOIN registrations r ON r.domain = c.domain WHERE c.state = 'deleting'),
recent_mandates AS (
	SELECT m.* FROM mandates m WHERE m.updated_at >= $1
	UNION SELECT m.* FROM recent_zones z JOIN mandates m ON m.domain = z.domain
	UNION SELECT m.* FROM recent_registrations r JOIN mandates m ON m.domain = r.domain
	UNION SELECT m.* FROM recent_payments p JOIN mandates m ON m.payment_id = p.id AND m.payment_id <> ''),
recent_cancellations AS (
	SELECT c.* FROM cancellations c WHERE c.state = 'deleting'
	UNION SELECT c.* FROM recent_payments p JOIN cancellations c ON c.payment_id = p.id),
recent_attempts AS (
	SELECT a.* FROM recent_payments p JOIN attempts a ON a.chain = p.chain_id AND a.purpose = 'refund ' || substr(p.asset, 3) || ' ' || p.id
	UNION SELECT a.* FROM recent_payments p JOIN attempts a ON a.chain = p.chain_id
	       AND a.purpose = rtrim('refund ' || substr(p.asset, 3) || ' ' || p.payer || ' ' || p.nonce || ' ' || p.refund_label)),
recent_transactions AS (
	SELECT t.* FROM signers s JOIN transactions t ON t.chain = s.chain AND t.signer = s.address AND t.nonce >= s.next_nonce - 10000),
recent_starts AS (
	SELECT t.chain, t.signer, min(t.nonce) AS nonce FROM recent_transactions t GROUP BY t.chain, t.signer),
recent_foreign_nonces AS (
	SELECT f.chain, f.signer, CASE WHEN f.first_nonce < s.nonce THEN s.nonce ELSE f.first_nonce END AS first_nonce, f.last_nonce
	  FROM recent_starts s JOIN foreign_nonces f ON f.chain = s.chain AND f.signer = s.signer AND f.last_nonce >= s.nonce)`

var (
	allRows    = strings.NewReplacer("{", "", "}", "")
	recentRows = strings.NewReplacer("{", "recent_", "}", "")
)

// since returns the query, for all rows or for those that changed since a time.
func (i invariant) since(t time.Time) (query string, args []any) {
	if t.IsZero() {
		return allRows.Replace(i.query), nil
	}
	return recent + recentRows.Replace(i.query), []any{t.Unix()}
}

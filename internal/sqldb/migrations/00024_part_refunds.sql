-- +goose Up

-- A part of a consumed payment may be refunded, with a reason.
ALTER TABLE payments ADD COLUMN refund_amount BIGINT NOT NULL DEFAULT 0
    CHECK (refund_amount >= 0 AND refund_amount <= amount);
ALTER TABLE payments ADD COLUMN refund_label TEXT NOT NULL DEFAULT ''
    CHECK ((refund_label = '') = (refund_amount = 0) AND (refund_label = '' OR state IN ('refund_due', 'refunding', 'refunded')));
ALTER TABLE payments ADD COLUMN refund_reason TEXT NOT NULL DEFAULT ''
    CHECK ((refund_reason = '') = (refund_label = ''));

-- An entry 'returned' takes the part out of the revenue, and says why.
CREATE TABLE ledger_24 (
    payment_id TEXT   NOT NULL REFERENCES payments (id),
    entry      TEXT   NOT NULL CHECK (entry IN ('settled', 'consumed', 'returned', 'refunded')),
    account    TEXT   NOT NULL CHECK (account IN ('treasury', 'owed', 'revenue', 'refunds')),
    amount     BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    reason     TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (payment_id, entry, account),
    CHECK ((reason = '') = (entry <> 'returned'))
);
INSERT INTO ledger_24 (payment_id, entry, account, amount, at)
    SELECT payment_id, entry, account, amount, at FROM ledger;
DROP TABLE ledger;
ALTER TABLE ledger_24 RENAME TO ledger;

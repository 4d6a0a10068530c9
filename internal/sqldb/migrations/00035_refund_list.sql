-- +goose Up

-- The refunds of a wallet, newest first: a page of its transactions reads only the
-- first of them.
CREATE INDEX payments_refunded ON payments (payer, changed_at) WHERE state IN ('refund_due', 'refunding', 'refunded', 'unclaimed');

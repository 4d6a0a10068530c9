-- Ids that callers know are random from now on. Those issued before go on telling
-- the state of a job.
UPDATE payments SET refund_id = public_id WHERE state IN ('refund_due', 'refunding', 'refunded');
CREATE UNIQUE INDEX payments_refund_id ON payments (refund_id) WHERE refund_id <> '' AND refund_id <> public_id;
CREATE INDEX payments_payer_open ON payments (payer) WHERE state IN ('authorized', 'settling');

ALTER TABLE jobs ADD COLUMN public_id TEXT NOT NULL DEFAULT '';
UPDATE jobs SET public_id = id;
CREATE UNIQUE INDEX jobs_public_id ON jobs (public_id);

-- One row per wallet that ever opened a payment: it is locked while another is
-- opened, so that no two count the same money.
CREATE TABLE payers (
    address       TEXT   PRIMARY KEY,
    refused_until BIGINT NOT NULL DEFAULT 0
);

-- Transfers of ours that failed on the chain: their gas was ours.
CREATE TABLE reverts (
    payment_id TEXT   PRIMARY KEY REFERENCES payments (id),
    payer      TEXT   NOT NULL,
    at         BIGINT NOT NULL
);
CREATE INDEX reverts_payer ON reverts (payer, at);

-- What the watcher could not take from the chain. A transfer is tried again; a
-- block without a transaction is for people.
CREATE TABLE put_aside (
    chain_id BIGINT NOT NULL,
    block    BIGINT NOT NULL,
    tx_hash  TEXT   NOT NULL, -- '' for a whole block
    payer    TEXT   NOT NULL,
    nonce    TEXT   NOT NULL,
    pay_to   TEXT   NOT NULL,
    amount   BIGINT NOT NULL,
    reason   TEXT   NOT NULL,
    at       BIGINT NOT NULL,
    next_at  BIGINT, -- when a transfer is tried again
    PRIMARY KEY (chain_id, block, tx_hash, payer, nonce)
);

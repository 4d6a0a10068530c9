-- +goose Up

-- One row per authorization: a payer and a nonce on one chain and token. What
-- it buys is stored with it. Docs: docs/payments.md draws the states.
CREATE TABLE payments (
    id           TEXT   PRIMARY KEY,
    chain_id     BIGINT NOT NULL,
    asset        TEXT   NOT NULL,
    payer        TEXT   NOT NULL,
    nonce        TEXT   NOT NULL,
    pay_to       TEXT   NOT NULL,
    amount       BIGINT NOT NULL CHECK (amount > 0),
    valid_after  BIGINT NOT NULL,
    valid_before BIGINT NOT NULL,
    signature    TEXT   NOT NULL,
    kind         TEXT   NOT NULL,
    domain       TEXT   NOT NULL,
    years        BIGINT NOT NULL,
    fingerprint  TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('authorized', 'settling', 'settled', 'consumed',
                                                  'refund_due', 'refunding', 'refunded', 'void')),
    tx_hash      TEXT   NOT NULL,
    refund_tx    TEXT   NOT NULL,
    alias_of     TEXT   REFERENCES payments (id),
    created_at   BIGINT NOT NULL,
    changed_at   BIGINT NOT NULL,
    next_at      BIGINT, -- when somebody should look at it again; none at an end
    UNIQUE (chain_id, asset, payer, nonce),
    CHECK ((tx_hash = '') = (state IN ('authorized', 'settling', 'void'))),
    CHECK ((refund_tx = '') = (state <> 'refunded')),
    CHECK (alias_of IS NULL OR state = 'authorized' OR state = 'void'),
    CHECK ((next_at IS NULL) = (state IN ('consumed', 'refunded', 'void') OR alias_of IS NOT NULL OR
                                state = 'settled'))
);
-- A payer has one open payment for one purchase; others are its aliases.
CREATE UNIQUE INDEX payments_open ON payments (payer, fingerprint)
    WHERE alias_of IS NULL AND state IN ('authorized', 'settling', 'settled');
CREATE INDEX payments_next ON payments (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX payments_payer ON payments (payer, created_at);

-- The work that a payment for a name set going; one job a payment.
CREATE TABLE jobs (
    id           TEXT   PRIMARY KEY,
    payment_id   TEXT   NOT NULL REFERENCES payments (id),
    domain       TEXT   NOT NULL,
    owner        TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('awaiting_payment', 'queued', 'submitting', 'verifying',
                                                  'completed', 'failed', 'cancelled')),
    reference    TEXT   NOT NULL,
    attempts     BIGINT NOT NULL,
    submitted_at BIGINT NOT NULL,
    lease_until  BIGINT NOT NULL,
    refusal      TEXT   NOT NULL,
    failure      TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    deadline_at  BIGINT NOT NULL,
    next_at      BIGINT,
    CHECK ((reference = '') = (attempts = 0)),
    CHECK ((failure = '') = (state <> 'failed')),
    CHECK ((next_at IS NOT NULL) = (state IN ('queued', 'submitting', 'verifying')))
);
CREATE UNIQUE INDEX jobs_payment ON jobs (payment_id);
CREATE INDEX jobs_next ON jobs (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE job_steps (
    job_id TEXT   NOT NULL REFERENCES jobs (id),
    n      BIGINT NOT NULL,
    state  TEXT   NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (job_id, n)
);

-- A name that a job is buying. The primary key lets one buyer in; the money of
-- the other never moves.
CREATE TABLE claims (
    domain TEXT PRIMARY KEY,
    job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id)
);

-- The names we hold. One living registration a name.
CREATE TABLE registrations (
    domain     TEXT   PRIMARY KEY,
    owner      TEXT   NOT NULL,
    status     TEXT   NOT NULL,
    reference  TEXT   NOT NULL UNIQUE,
    payment_id TEXT   NOT NULL UNIQUE REFERENCES payments (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL CHECK (expires_at > created_at),
    updated_at BIGINT NOT NULL
);
CREATE INDEX registrations_owner ON registrations (owner);

-- Double entry: the lines of one entry sum to zero. An entry is a payment and
-- what happened to it, so it is made once.
CREATE TABLE ledger (
    payment_id TEXT   NOT NULL REFERENCES payments (id),
    entry      TEXT   NOT NULL CHECK (entry IN ('settled', 'consumed', 'refunded')),
    account    TEXT   NOT NULL CHECK (account IN ('treasury', 'owed', 'revenue', 'refunds')),
    amount     BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (payment_id, entry, account)
);

-- How far the watcher has read the chain.
CREATE TABLE watched (
    chain_id   BIGINT PRIMARY KEY,
    next_block BIGINT NOT NULL
);

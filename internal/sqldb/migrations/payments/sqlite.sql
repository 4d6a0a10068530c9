-- SQLite cannot change the rules of a table, so the table is made anew.
CREATE TABLE payments_new (
    id           TEXT   PRIMARY KEY,
    public_id    TEXT   NOT NULL UNIQUE,
    refund_id    TEXT   NOT NULL DEFAULT '',
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
    purchase     TEXT   NOT NULL DEFAULT '',
    fingerprint  TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('authorized', 'settling', 'settled', 'consumed', 'refund_due', 'refunding',
                                                  'refunded', 'void', 'released', 'unclaimed', 'dust')),
    tx_hash      TEXT   NOT NULL,
    refund_tx    TEXT   NOT NULL,
    alias_of     TEXT   REFERENCES payments (id),
    created_at   BIGINT NOT NULL,
    changed_at   BIGINT NOT NULL,
    next_at      BIGINT, -- when somebody should look at it again; none at an end
    tries        BIGINT NOT NULL DEFAULT 0,  -- since it reached its state
    stuck_at     BIGINT,                     -- since when its transfer would fail
    cause        TEXT   NOT NULL DEFAULT '', -- why it waits
    lost_at      BIGINT,                     -- when money was found that we settled and have no request for: the database is older than the chain
    UNIQUE (chain_id, asset, payer, nonce),
    CHECK ((tx_hash = '') = (state IN ('authorized', 'settling', 'void', 'released'))),
    CHECK ((refund_tx = '') = (state <> 'refunded')),
    CHECK (alias_of IS NULL OR state = 'authorized' OR state = 'void'),
    CHECK (state = 'unclaimed' OR
           (next_at IS NULL) = (state IN ('consumed', 'refunded', 'void', 'released', 'dust', 'settled') OR alias_of IS NOT NULL))
);
INSERT INTO payments_new (id, public_id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain,
                          years, purchase, fingerprint, state, tx_hash, refund_tx, alias_of, created_at, changed_at, next_at)
SELECT id, id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain,
       years, purchase, fingerprint, state, tx_hash, refund_tx, alias_of, created_at, changed_at, next_at
  FROM payments;
DROP TABLE payments;
ALTER TABLE payments_new RENAME TO payments;
CREATE UNIQUE INDEX payments_open ON payments (payer, fingerprint)
    WHERE alias_of IS NULL AND state IN ('authorized', 'settling', 'settled');
CREATE INDEX payments_next ON payments (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX payments_payer ON payments (payer, created_at);

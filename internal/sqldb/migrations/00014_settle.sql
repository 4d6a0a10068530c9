-- +goose Up

-- Every address that was ever ours, so that money at an earlier one is seen and
-- no refund is paid from two.
CREATE TABLE own_wallets (
    chain         BIGINT NOT NULL,
    role          TEXT   NOT NULL CHECK (role IN ('treasury', 'refund', 'gas')),
    address       TEXT   NOT NULL CHECK (length(address) = 42 AND address = lower(address)),
    first_used_at BIGINT NOT NULL, -- Unix seconds
    PRIMARY KEY (chain, role, address)
);
INSERT INTO own_wallets (chain, role, address, first_used_at)
    SELECT chain_id, 'treasury', lower(pay_to), min(created_at) FROM payments
     WHERE length(pay_to) = 42 GROUP BY chain_id, lower(pay_to);
INSERT INTO own_wallets (chain, role, address, first_used_at)
    SELECT s.chain, 'refund', s.address, 0 FROM signers s
     WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.chain = s.chain AND a.signer = s.address AND a.purpose LIKE 'refund %');
INSERT INTO own_wallets (chain, role, address, first_used_at)
    SELECT s.chain, 'gas', s.address, 0 FROM signers s
     WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.chain = s.chain AND a.signer = s.address AND a.purpose LIKE 'settle %');

-- Nonces of our accounts that somebody else used, or that we used before a
-- backup was restored. Our own go on above them.
CREATE TABLE foreign_nonces (
    chain       BIGINT NOT NULL,
    signer      TEXT   NOT NULL,
    first_nonce BIGINT NOT NULL CHECK (first_nonce >= 0),
    last_nonce  BIGINT NOT NULL,
    seen_at     BIGINT NOT NULL, -- Unix seconds
    PRIMARY KEY (chain, signer, first_nonce),
    CHECK (last_nonce >= first_nonce),
    FOREIGN KEY (chain, signer) REFERENCES signers (chain, address)
);

-- An attempt without a signer is a tombstone: it is the last one, and nobody
-- signs for the purpose any more.
CREATE TABLE attempts_14 (
    chain   BIGINT NOT NULL,
    purpose TEXT   NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt > 0),
    signer  TEXT,
    nonce   BIGINT CHECK (nonce >= 0),
    PRIMARY KEY (chain, purpose, attempt),
    FOREIGN KEY (chain, signer) REFERENCES signers (chain, address),
    CHECK ((signer IS NULL) = (nonce IS NULL))
);
INSERT INTO attempts_14 (chain, purpose, attempt, signer, nonce)
    SELECT chain, purpose, attempt, signer, nonce FROM attempts;
DROP TABLE attempts;
ALTER TABLE attempts_14 RENAME TO attempts;

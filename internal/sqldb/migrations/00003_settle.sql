-- +goose Up

-- The accounts that sign our transactions, on each chain. The row is the lock:
-- whoever wants the next nonce raises it first, so that no nonce is given twice
-- and none is left out.
CREATE TABLE signers (
    chain      BIGINT NOT NULL,
    address    TEXT   NOT NULL CHECK (length(address) = 42 AND address = lower(address)),
    next_nonce BIGINT NOT NULL CHECK (next_nonce > 0),
    PRIMARY KEY (chain, address)
);

-- What each nonce was taken for. One attempt of a purpose is made once, however
-- many processes want to make it.
CREATE TABLE attempts (
    chain   BIGINT NOT NULL,
    purpose TEXT   NOT NULL,
    attempt BIGINT NOT NULL CHECK (attempt > 0),
    signer  TEXT   NOT NULL,
    nonce   BIGINT NOT NULL CHECK (nonce >= 0),
    PRIMARY KEY (chain, purpose, attempt),
    FOREIGN KEY (chain, signer) REFERENCES signers (chain, address)
);

-- The signed bytes, in hex, from before they are sent. Those with the same nonce
-- differ in their fee only, and the chain takes one of them.
CREATE TABLE transactions (
    chain     BIGINT NOT NULL,
    signer    TEXT   NOT NULL,
    nonce     BIGINT NOT NULL CHECK (nonce >= 0),
    hash      TEXT   NOT NULL,
    raw       TEXT   NOT NULL,
    signed_at BIGINT NOT NULL, -- Unix seconds
    PRIMARY KEY (chain, signer, nonce, hash),
    FOREIGN KEY (chain, signer) REFERENCES signers (chain, address)
);

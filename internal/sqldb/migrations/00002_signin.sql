-- +goose Up

-- Every wallet that ever signed in. Raising the generation voids every access
-- token of the wallet.
CREATE TABLE wallets (
    address        TEXT   PRIMARY KEY CHECK (length(address) = 42 AND address = lower(address)),
    generation     BIGINT NOT NULL CHECK (generation > 0),
    created_at     BIGINT NOT NULL,
    last_active_at BIGINT NOT NULL
);

-- Nonces that opened a session, until they would have expired anyway. A nonce
-- says itself when that is, so it always has the same end, and ended ones lie
-- together.
CREATE TABLE used_nonces (
    ends  BIGINT NOT NULL, -- Unix seconds
    nonce TEXT   NOT NULL,
    PRIMARY KEY (ends, nonce)
);

-- Refresh tokens, by their hash. The tokens of one sign-in are a family, and one
-- of them at most is active: neither used nor ended.
CREATE TABLE refresh_tokens (
    hash       TEXT   PRIMARY KEY,
    family     TEXT   NOT NULL,
    wallet     TEXT   NOT NULL REFERENCES wallets (address),
    issued_at  BIGINT NOT NULL,
    expires_at BIGINT NOT NULL CHECK (expires_at > issued_at),
    used_at    BIGINT,
    ended_at   BIGINT
);
CREATE UNIQUE INDEX refresh_tokens_active ON refresh_tokens (family) WHERE used_at IS NULL AND ended_at IS NULL;
CREATE INDEX refresh_tokens_wallet ON refresh_tokens (wallet) WHERE used_at IS NULL AND ended_at IS NULL;
CREATE INDEX refresh_tokens_expires ON refresh_tokens (expires_at);

-- A print of every key that ever made tokens here, so that a node with other
-- keys than its neighbours is found out when it starts.
CREATE TABLE token_keys (
    id    TEXT PRIMARY KEY,
    print TEXT NOT NULL
);

-- +goose Up

-- Renewals that owners have signed the payments of in advance. The signature is
-- encrypted, and erased as soon as a mandate is no longer active.
CREATE TABLE mandates (
    id           TEXT   PRIMARY KEY,
    owner        TEXT   NOT NULL,
    domain       TEXT   NOT NULL,
    reference    TEXT   NOT NULL, -- of the registration
    expires_at   BIGINT NOT NULL, -- the expiry that it renews
    chain_id     BIGINT NOT NULL,
    asset        TEXT   NOT NULL,
    nonce        TEXT   NOT NULL,
    pay_to       TEXT   NOT NULL,
    amount       BIGINT NOT NULL CHECK (amount > 0), -- the most that the renewal may cost
    valid_after  BIGINT NOT NULL,
    valid_before BIGINT NOT NULL,
    signature    TEXT   NOT NULL,
    state        TEXT   NOT NULL CHECK (state IN ('active', 'paying', 'used', 'failed', 'unneeded', 'revoked')),
    reason       TEXT   NOT NULL DEFAULT '',
    payment_id   TEXT   NOT NULL DEFAULT '',
    told_price   BIGINT NOT NULL DEFAULT 0, -- 1 if the owner knows that the amount is too low
    told_funds   BIGINT NOT NULL DEFAULT 0, -- 1 if the owner knows that the wallet cannot pay
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    next_at      BIGINT,                    -- by the registry's clock
    UNIQUE (chain_id, asset, owner, nonce),
    CHECK ((signature <> '') = (state = 'active')),
    CHECK ((next_at IS NOT NULL) = (state = 'active')),
    CHECK (payment_id <> '' OR state NOT IN ('paying', 'used'))
);
CREATE UNIQUE INDEX mandates_open ON mandates (domain, expires_at) WHERE state IN ('active', 'paying');
CREATE UNIQUE INDEX mandates_payment ON mandates (payment_id) WHERE payment_id <> '';
CREATE INDEX mandates_domain ON mandates (domain, expires_at);
CREATE INDEX mandates_owner ON mandates (owner) WHERE state = 'active';
CREATE INDEX mandates_next ON mandates (next_at) WHERE next_at IS NOT NULL;

-- How far the sandbox has moved the clock of its chain.
ALTER TABLE calendar ADD COLUMN chain_ahead BIGINT NOT NULL DEFAULT 0;

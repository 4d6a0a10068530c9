-- +goose Up

-- The e-mail addresses that owners want notices at. The address, the code that confirms
-- it and the token that ends it are encrypted; hashes of them are compared.
CREATE TABLE emails (
    owner         TEXT   PRIMARY KEY,
    sealed        TEXT   NOT NULL,
    address_hash  TEXT   NOT NULL,
    code_hash     TEXT   NOT NULL,
    token_hash    TEXT   NOT NULL UNIQUE,
    state         TEXT   NOT NULL CHECK (state IN ('pending', 'confirmed', 'off')),
    tries         BIGINT NOT NULL DEFAULT 0,  -- wrong codes
    n             BIGINT NOT NULL DEFAULT 0,  -- the last event that was sent or passed over
    failures      BIGINT NOT NULL DEFAULT 0,  -- consecutive ones
    failing_since BIGINT NOT NULL DEFAULT 0,
    failure       TEXT   NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    confirmed_at  BIGINT NOT NULL DEFAULT 0,
    rest_until    BIGINT NOT NULL DEFAULT 0,  -- no message before
    next_at       BIGINT,                     -- when to send; NULL: there is nothing
    CHECK (state <> 'off' OR next_at IS NULL)
);
CREATE INDEX emails_next ON emails (next_at) WHERE next_at IS NOT NULL;

-- The codes of the last day, for the limits.
CREATE TABLE email_requests (
    owner        TEXT   NOT NULL,
    address_hash TEXT   NOT NULL,
    at           BIGINT NOT NULL
);
CREATE INDEX email_requests_at ON email_requests (at);

-- Addresses whose readers do not want to be asked again.
CREATE TABLE email_blocked (
    address_hash TEXT   PRIMARY KEY,
    at           BIGINT NOT NULL
);

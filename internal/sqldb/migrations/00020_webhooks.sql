-- +goose Up

-- Where owners want their events sent. Secrets are encrypted.
CREATE TABLE webhooks (
    id            TEXT   PRIMARY KEY,
    owner         TEXT   NOT NULL,
    url           TEXT   NOT NULL,
    host          TEXT   NOT NULL,
    secret        TEXT   NOT NULL,
    old_secret    TEXT   NOT NULL DEFAULT '', -- signs too, until old_until
    old_until     BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    failing_since BIGINT NOT NULL DEFAULT 0,  -- the first failed attempt since the last success
    disabled_at   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX webhooks_owner ON webhooks (owner, created_at);

-- One event for one webhook, written in the transaction of the event. There is no
-- foreign key: deleting a webhook must never fail the transaction of an event.
CREATE TABLE webhook_deliveries (
    webhook    TEXT   NOT NULL,
    event      TEXT   NOT NULL, -- owner_events.id, or that of a test
    n          BIGINT NOT NULL, -- owner_events.n, 0 for a test
    type       TEXT   NOT NULL,
    aggregate  TEXT   NOT NULL, -- events of one aggregate are delivered in order
    host       TEXT   NOT NULL, -- webhooks.host
    state      TEXT   NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts   BIGINT NOT NULL DEFAULT 0,
    next_at    BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    first_at   BIGINT NOT NULL DEFAULT 0, -- the first attempt
    last_at    BIGINT NOT NULL DEFAULT 0, -- the last attempt
    status     BIGINT NOT NULL DEFAULT 0, -- the HTTP status of the last attempt
    failure    TEXT   NOT NULL DEFAULT '',
    PRIMARY KEY (webhook, event)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (host, next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_order ON webhook_deliveries (webhook, aggregate, n) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (webhook, created_at);
CREATE INDEX webhook_deliveries_done ON webhook_deliveries (last_at) WHERE state <> 'pending';

-- The hosts that deliveries were sent to. One node at a time sends to a host.
CREATE TABLE webhook_hosts (
    host        TEXT   PRIMARY KEY,
    lease_until BIGINT NOT NULL DEFAULT 0,
    served_at   BIGINT NOT NULL DEFAULT 0,
    answered    BIGINT NOT NULL DEFAULT 0, -- 1 if it answered the last time
    failures    BIGINT NOT NULL DEFAULT 0, -- consecutive turns without an answer
    retry_at    BIGINT NOT NULL DEFAULT 0
);

-- The unguessable address of a wallet's calendar feed; only a hash of it is stored.
CREATE TABLE calendar_feeds (
    owner      TEXT   PRIMARY KEY,
    token_hash TEXT   NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

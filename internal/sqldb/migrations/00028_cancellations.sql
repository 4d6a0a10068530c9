-- +goose Up

-- Registrations that are undone in their add grace period. One that the registry
-- refused may be tried again, in the same row.
CREATE TABLE cancellations (
    reference   TEXT   PRIMARY KEY, -- of the registration
    domain      TEXT   NOT NULL,
    backend     TEXT   NOT NULL,
    payment_id  TEXT   NOT NULL UNIQUE REFERENCES payments (id),
    wallet      TEXT   NOT NULL,
    paid        BIGINT NOT NULL,
    fee         BIGINT NOT NULL CHECK (fee >= 0 AND fee < paid), -- that the registry keeps
    state       TEXT   NOT NULL CHECK (state IN ('deleting', 'done', 'kept')),
    reason      TEXT   NOT NULL DEFAULT '' CHECK ((reason = '') = (state <> 'kept')),
    created_at  BIGINT NOT NULL,
    tries       BIGINT NOT NULL DEFAULT 0,
    lease_until BIGINT NOT NULL DEFAULT 0,
    quiet_until BIGINT NOT NULL DEFAULT 0, -- until then a deletion without an answer may still be executed
    next_at     BIGINT CHECK ((next_at IS NOT NULL) = (state = 'deleting'))
);
CREATE UNIQUE INDEX cancellations_open ON cancellations (domain) WHERE state = 'deleting';
CREATE INDEX cancellations_next ON cancellations (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX cancellations_wallet ON cancellations (wallet, created_at);
CREATE INDEX cancellations_domain ON cancellations (domain, created_at);

-- How many registrations of a TLD were cancelled in a month, by the registry's clock.
-- The row is also the lock of the count.
CREATE TABLE cancel_allowances (
    backend TEXT   NOT NULL,
    tld     TEXT   NOT NULL,
    month   TEXT   NOT NULL, -- 2026-11
    used    BIGINT NOT NULL CHECK (used >= 0),
    PRIMARY KEY (backend, tld, month)
);

-- While it is set, nobody else changes the registration.
ALTER TABLE registrations ADD COLUMN cancelling_at BIGINT;

CREATE TABLE former_registrations_28 (
    reference  TEXT   PRIMARY KEY,
    domain     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    payment_id TEXT   NOT NULL UNIQUE REFERENCES payments (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    reason     TEXT   NOT NULL CHECK (reason IN ('deleted', 'transferred_out', 'cancelled'))
);
INSERT INTO former_registrations_28 (reference, domain, owner, payment_id, created_at, expires_at, ended_at, reason)
    SELECT reference, domain, owner, payment_id, created_at, expires_at, ended_at, reason FROM former_registrations;
DROP TABLE former_registrations;
ALTER TABLE former_registrations_28 RENAME TO former_registrations;
CREATE INDEX former_registrations_domain ON former_registrations (domain);

-- What a backend charges today, read from it; the newest price list is made of it. A
-- price that cannot be true is only noted (odd).
CREATE TABLE wholesale_prices (
    backend      TEXT   NOT NULL,
    tld          TEXT   NOT NULL,
    registration BIGINT NOT NULL CHECK (registration >= 0), -- 0: not known, like the others
    renewal      BIGINT NOT NULL CHECK (renewal >= 0),
    transfer     BIGINT NOT NULL CHECK (transfer >= 0),
    restore      BIGINT NOT NULL CHECK (restore >= 0),
    closed       BIGINT NOT NULL CHECK (closed IN (0, 1)), -- no new names are sold
    missing      BIGINT NOT NULL DEFAULT 0, -- reads in a row in which the backend did not sell the TLD
    odd          TEXT   NOT NULL DEFAULT '',
    odd_since    BIGINT NOT NULL DEFAULT 0,
    read_at      BIGINT NOT NULL,
    PRIMARY KEY (backend, tld)
);

-- How far the daily comparison with each backend has come.
CREATE TABLE reconciliations (
    backend     TEXT   PRIMARY KEY,
    position    TEXT   NOT NULL, -- the last name that was compared
    compared    BIGINT NOT NULL,
    differences BIGINT NOT NULL,
    started_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    finished_at BIGINT, -- of the last complete comparison
    lease_until BIGINT NOT NULL DEFAULT 0
);

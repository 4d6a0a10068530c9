-- +goose Up

-- Every order that the embedded registry took, under the reference of the
-- caller. One that is refused, cancelled or done stays, so that it is never
-- executed again under the same reference.
CREATE TABLE registry_orders (
    reference TEXT   PRIMARY KEY CHECK (reference <> ''),
    name      TEXT   NOT NULL CHECK (name <> '' AND name = lower(name)),
    years     BIGINT NOT NULL CHECK (years BETWEEN 1 AND 10),
    account   TEXT   NOT NULL CHECK (account <> ''),
    state     TEXT   NOT NULL CHECK (state IN ('placed', 'parked', 'done', 'refused', 'cancelled')),
    refusal   TEXT   NOT NULL CHECK ((state = 'refused') = (refusal <> '')), -- a code
    placed_at BIGINT NOT NULL,
    due_at    BIGINT NOT NULL CHECK (due_at >= placed_at)
);
CREATE INDEX registry_orders_placed ON registry_orders (name, due_at, reference) WHERE state = 'placed';

-- Every name that was ever ordered. Its row is the lock of all that changes the
-- name; it is empty until the first order is done. One order makes one name,
-- and one name has one holder.
CREATE TABLE registry_names (
    name       TEXT   PRIMARY KEY CHECK (name <> '' AND name = lower(name)),
    reference  TEXT   UNIQUE REFERENCES registry_orders (reference),
    account    TEXT   CHECK ((account IS NULL) = (reference IS NULL)),
    created_at BIGINT CHECK ((created_at IS NULL) = (reference IS NULL)),
    expires_at BIGINT CHECK ((expires_at IS NULL) = (reference IS NULL)),
    CHECK (expires_at > created_at)
);

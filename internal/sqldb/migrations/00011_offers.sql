-- +goose Up

-- What premium names were offered for, so that it can be paid for a while after
-- the registry changed its mind.
CREATE TABLE offers (
    what       TEXT   NOT NULL, -- kind, name, years
    price      BIGINT NOT NULL CHECK (price > 0),
    offered_at BIGINT NOT NULL,
    PRIMARY KEY (what, price)
);
CREATE INDEX offers_at ON offers (offered_at);

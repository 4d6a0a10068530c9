-- +goose Up

-- The zone of a name that we hold. Its row is the lock of all that changes it.
-- A zone that is dark or has ended is not served; an ended one stays, so that
-- the next zone of its name begins with a larger serial.
CREATE TABLE zones (
    id         TEXT   PRIMARY KEY,
    domain     TEXT   NOT NULL CHECK (domain <> '' AND domain = lower(domain)),
    serial     BIGINT NOT NULL CHECK (serial BETWEEN 1 AND 4294967295),
    member     TEXT   NOT NULL UNIQUE,                          -- its label in the catalog
    generation BIGINT NOT NULL CHECK (generation >= 0),         -- of its key; 0 is unsigned
    renew_at   BIGINT NOT NULL,                                 -- of its signatures; 0 for none
    dark_at    BIGINT,
    ended_at   BIGINT,
    changed_at BIGINT NOT NULL                                  -- milliseconds, for those who follow
);
CREATE UNIQUE INDEX zones_domain ON zones (domain) WHERE ended_at IS NULL;
CREATE INDEX zones_ended ON zones (domain, serial);
CREATE INDEX zones_changed ON zones (changed_at);
CREATE INDEX zones_renew ON zones (renew_at) WHERE ended_at IS NULL AND renew_at > 0;

-- Every record that a zone has or had. It was there from the serial born until
-- before the serial died; the same rows are the history.
CREATE TABLE records (
    zone_id    TEXT   NOT NULL REFERENCES zones (id),
    id         TEXT   NOT NULL,
    type       TEXT   NOT NULL,
    host       TEXT   NOT NULL,
    value      TEXT   NOT NULL,
    ttl        BIGINT NOT NULL CHECK (ttl BETWEEN 60 AND 86400),
    distance   BIGINT CHECK (distance BETWEEN 0 AND 65535),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    born       BIGINT NOT NULL,
    died       BIGINT CHECK (died > born),
    PRIMARY KEY (zone_id, id, born)
);
CREATE UNIQUE INDEX records_live ON records (id) WHERE died IS NULL;
CREATE INDEX records_zone ON records (zone_id) WHERE died IS NULL;
CREATE INDEX records_id ON records (id, born);

-- The same for what name servers give out: data in hex, as it is on the wire.
CREATE TABLE served (
    zone_id TEXT   NOT NULL REFERENCES zones (id),
    owner   TEXT   NOT NULL,
    type    BIGINT NOT NULL,
    ttl     BIGINT NOT NULL,
    data    TEXT   NOT NULL,
    born    BIGINT NOT NULL,
    died    BIGINT CHECK (died > born)
);
CREATE INDEX served_live ON served (zone_id) WHERE died IS NULL;
CREATE INDEX served_died ON served (zone_id, died) WHERE died IS NOT NULL;

-- What changed when.
CREATE TABLE revisions (
    zone_id TEXT   NOT NULL REFERENCES zones (id),
    serial  BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    added   BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    records BIGINT NOT NULL,
    PRIMARY KEY (zone_id, serial)
);

-- Zones whose change the other name servers may not have yet. Told is the serial
-- that was last told to all of them.
CREATE TABLE outbox (
    zone_id TEXT   PRIMARY KEY REFERENCES zones (id),
    serial  BIGINT NOT NULL,
    told    BIGINT NOT NULL CHECK (told <= serial),
    at      BIGINT NOT NULL
);

-- The serial of the catalog of all zones: it grows when one comes, goes or gets
-- a new label.
CREATE TABLE catalog (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    serial BIGINT NOT NULL
);

-- The revision that a completed change of the DNS left behind.
ALTER TABLE jobs ADD COLUMN revision BIGINT NOT NULL DEFAULT 0;

-- +goose Up

-- What the targets of ALIAS records resolve to. A row exists as long as its record.
CREATE TABLE aliases (
    zone_id   TEXT   NOT NULL REFERENCES zones (id),
    host      TEXT   NOT NULL,
    target    TEXT   NOT NULL,
    addresses TEXT   NOT NULL, -- sorted, separated by blanks
    ttl       BIGINT NOT NULL,
    next_at   BIGINT NOT NULL, -- when it is looked up again
    PRIMARY KEY (zone_id, host)
);
CREATE INDEX aliases_due ON aliases (next_at);

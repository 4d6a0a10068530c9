-- +goose Up

-- A record that is no longer served is found by its owner: renewing the
-- signatures of a full zone touches thousands of rows, and each of them must not
-- look through all others.
DROP INDEX served_live;
CREATE INDEX served_live ON served (zone_id, owner, type) WHERE died IS NULL;

-- A print of the secret that the keys of all zones are derived from. A node with
-- another one would sign with keys that no parent knows.
CREATE TABLE zone_master (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    print TEXT   NOT NULL
);

-- +goose Up

-- The changes of the catalog after the serial since, so that every node can answer
-- secondaries with what has changed.
ALTER TABLE catalog ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
UPDATE catalog SET since = serial;
CREATE TABLE catalog_changes (
    serial BIGINT NOT NULL, -- of the catalog after the change
    label  TEXT   NOT NULL,
    origin TEXT   NOT NULL,
    added  BIGINT NOT NULL CHECK (added IN (0, 1)), -- 0: removed
    PRIMARY KEY (serial, label, added)
);

-- +goose Down

DROP TABLE catalog_changes;
ALTER TABLE catalog DROP COLUMN since;

-- +goose Up

-- Changes of the catalog that have no serial yet. A sale adds a row here and waits for
-- nobody; the serial is raised for all of them at once, when somebody asks for it.
CREATE TABLE catalog_pending (
    label  TEXT   NOT NULL,
    origin TEXT   NOT NULL,
    added  BIGINT NOT NULL CHECK (added IN (0, 1)) -- 0: removed
);

-- +goose Down

DROP TABLE catalog_pending;

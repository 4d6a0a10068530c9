-- +goose Up

-- The fingerprint of the secret that the key of a zone is derived from. Zones of nodes
-- of an earlier version have '': the secret in zone_master.
ALTER TABLE zones ADD COLUMN master TEXT NOT NULL DEFAULT '';

-- Keys of zones that are being replaced. The key of the row is published beside the one
-- that signs: the next one while it is introduced, then the one before it.
CREATE TABLE key_rolls (
    zone_id      TEXT   PRIMARY KEY REFERENCES zones (id),
    step         TEXT   NOT NULL CHECK (step IN ('requested', 'introducing', 'replacing')),
    master       TEXT   NOT NULL, -- fingerprint of the secret the key is derived from
    generation   BIGINT NOT NULL,
    effective_at BIGINT NOT NULL, -- when the step ends; 0 while it waits for name servers or the registry
    next_at      BIGINT NOT NULL, -- when it is looked at again
    created_at   BIGINT NOT NULL
);
CREATE INDEX key_rolls_due ON key_rolls (next_at);

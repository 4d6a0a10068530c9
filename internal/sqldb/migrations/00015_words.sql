-- +goose Up

-- Conventional column names. A record was in the zone from added_serial up to,
-- and not including, removed_serial.
ALTER TABLE records RENAME COLUMN born TO added_serial;
ALTER TABLE records RENAME COLUMN died TO removed_serial;
ALTER TABLE served RENAME COLUMN born TO added_serial;
ALTER TABLE served RENAME COLUMN died TO removed_serial;
DROP INDEX served_died;
CREATE INDEX served_removed ON served (zone_id, removed_serial) WHERE removed_serial IS NOT NULL;

-- Set while the zone exists but is not served.
ALTER TABLE zones RENAME COLUMN dark_at TO withdrawn_at;

-- The newest serial that every name server is known to serve, and when to check
-- again.
ALTER TABLE outbox RENAME COLUMN told TO propagated_serial;
ALTER TABLE outbox RENAME COLUMN at TO next_at;

ALTER TABLE acts RENAME TO owner_actions;
ALTER TABLE owner_actions RENAME COLUMN act TO action;

ALTER TABLE zone_master RENAME COLUMN print TO fingerprint;
ALTER TABLE token_keys RENAME COLUMN print TO fingerprint;

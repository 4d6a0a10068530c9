-- +goose Up

-- When the registry may last have had a DS of the name that is not in ds, so that resolvers
-- may have it in their caches, by the clock of the registry; 0 if it never had one.
ALTER TABLE registrations ADD COLUMN ds_seen_at BIGINT NOT NULL DEFAULT 0;
UPDATE registrations SET ds_seen_at = coalesce((SELECT max(at) FROM events WHERE events.reference = registrations.reference AND type = 'ds_withdrawn'), 0);

-- +goose Down

ALTER TABLE registrations DROP COLUMN ds_seen_at;

-- +goose Up

-- When the registry may last have had a DS of the name that is not in ds, so that resolvers
-- may have it in their caches, by the clock of the registry; 0 if it never had one.
ALTER TABLE registrations ADD COLUMN ds_seen_at BIGINT NOT NULL DEFAULT 0;
-- By the domain, too, of which events have an index.
UPDATE registrations SET ds_seen_at = coalesce((
    SELECT max(e.at) FROM events e WHERE e.domain = registrations.domain AND e.reference = registrations.reference AND e.type = 'ds_withdrawn'), 0)
 WHERE domain IN (SELECT domain FROM events WHERE type = 'ds_withdrawn');

-- +goose Down

ALTER TABLE registrations DROP COLUMN ds_seen_at;

-- +goose Up

-- When the registry may last have had our name servers, if it has others now, so that resolvers
-- may still ask ours, by the clock of the registry; 0 if it never had ours.
ALTER TABLE registrations ADD COLUMN our_servers_until BIGINT NOT NULL DEFAULT 0;
-- By the domain, too, of which events have an index.
UPDATE registrations SET our_servers_until = coalesce((
    SELECT max(e.at) FROM events e WHERE e.domain = registrations.domain AND e.reference = registrations.reference AND e.type = 'delegated'), 0)
 WHERE domain IN (SELECT domain FROM events WHERE type = 'delegated');

-- +goose Down

ALTER TABLE registrations DROP COLUMN our_servers_until;

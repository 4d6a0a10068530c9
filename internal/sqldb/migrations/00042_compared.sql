-- +goose Up

-- When a name was last compared with its registry, by the registry's clock: an attempt
-- that got no answer does not count.
ALTER TABLE registrations ADD COLUMN compared_at BIGINT NOT NULL DEFAULT 0;
UPDATE registrations SET compared_at = updated_at;
CREATE INDEX registrations_compared ON registrations (backend, compared_at);

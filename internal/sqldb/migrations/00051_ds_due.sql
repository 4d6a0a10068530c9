-- +goose Up

-- Since when the DS of a name has waited for name servers, and when they are asked again;
-- 0 before the first time. This was in zones, where no index could find the few names
-- that are due among all that wait.
ALTER TABLE registrations ADD COLUMN ds_wait_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registrations ADD COLUMN ds_next_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE zones DROP COLUMN ds_wait_since;
ALTER TABLE zones DROP COLUMN ds_next_at;
DROP INDEX registrations_unsigned;
CREATE INDEX registrations_unsigned ON registrations (nameservers, ds_next_at) WHERE ds = '' AND status = 'active';

-- +goose Down

DROP INDEX registrations_unsigned;
ALTER TABLE registrations DROP COLUMN ds_wait_since;
ALTER TABLE registrations DROP COLUMN ds_next_at;
ALTER TABLE zones ADD COLUMN ds_wait_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE zones ADD COLUMN ds_next_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX registrations_unsigned ON registrations (nameservers, domain) WHERE ds = '' AND status = 'active';

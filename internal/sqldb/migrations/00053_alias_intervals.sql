-- +goose Up

-- When the addresses of an alias changed last, how often they did without a quiet time in
-- between, and how many lookups have failed since the last answer.
ALTER TABLE aliases ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE aliases ADD COLUMN changes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE aliases ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE aliases DROP COLUMN changed_at;
ALTER TABLE aliases DROP COLUMN changes;
ALTER TABLE aliases DROP COLUMN failures;

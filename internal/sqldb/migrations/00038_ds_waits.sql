-- +goose Up

-- Since when the DS of a zone has waited for name servers, and when they are asked
-- again; 0 before the first time.
ALTER TABLE zones ADD COLUMN ds_wait_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE zones ADD COLUMN ds_next_at BIGINT NOT NULL DEFAULT 0;

-- When the step of a key roll began; 0 if a node of an earlier version began it.
ALTER TABLE key_rolls ADD COLUMN step_at BIGINT NOT NULL DEFAULT 0;

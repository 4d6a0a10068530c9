-- +goose Up

-- When the registry last refused a change of name servers; 0 while it is being made.
ALTER TABLE delegation_moves ADD COLUMN refused_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down

ALTER TABLE delegation_moves DROP COLUMN refused_at;

-- +goose Up

-- Refresh tokens that were used or ended, for the sweep that deletes them.
CREATE INDEX refresh_tokens_done ON refresh_tokens (coalesce(used_at, ended_at)) WHERE coalesce(used_at, ended_at) IS NOT NULL;

-- +goose Down

DROP INDEX refresh_tokens_done;

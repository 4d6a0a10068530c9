-- +goose Up

-- A wallet has no more sessions than this. It is counted anew when it exceeds the limit;
-- those of existing wallets are counted at their next sign-in.
ALTER TABLE wallets ADD COLUMN sessions_at_most BIGINT NOT NULL DEFAULT 1000000;

-- +goose Down

ALTER TABLE wallets DROP COLUMN sessions_at_most;

-- +goose Up

-- When the name was locked and got a new auth code: since then it cannot leave by a
-- transfer, and a deletion may have been sent. It may have been sent for those that are
-- open already.
ALTER TABLE cancellations ADD COLUMN secured_at BIGINT;
UPDATE cancellations SET secured_at = created_at WHERE state = 'deleting';

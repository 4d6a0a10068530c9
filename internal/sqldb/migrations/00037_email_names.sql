-- +goose Up

-- The name for which a code was sent: a name that goes from wallet to wallet gets no
-- more codes than one that stays.
ALTER TABLE email_requests ADD COLUMN domain TEXT NOT NULL DEFAULT '';

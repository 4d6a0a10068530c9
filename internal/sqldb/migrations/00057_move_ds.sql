-- +goose Up

-- The DS that was removed for a change of name servers, as in registrations: it is set again
-- if the change is canceled.
ALTER TABLE delegation_moves ADD COLUMN ds TEXT NOT NULL DEFAULT '';

-- +goose Down

ALTER TABLE delegation_moves DROP COLUMN ds;

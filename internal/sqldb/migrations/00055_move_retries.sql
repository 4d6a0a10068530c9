-- +goose Up

-- When a change of name servers is looked at next: at the end of its step, or later if the
-- registry did not execute it.
ALTER TABLE delegation_moves ADD COLUMN next_at BIGINT NOT NULL DEFAULT 0;
UPDATE delegation_moves SET next_at = effective_at;
DROP INDEX delegation_moves_due;
CREATE INDEX delegation_moves_due ON delegation_moves (next_at);

-- +goose Down

DROP INDEX delegation_moves_due;
ALTER TABLE delegation_moves DROP COLUMN next_at;
CREATE INDEX delegation_moves_due ON delegation_moves (effective_at);

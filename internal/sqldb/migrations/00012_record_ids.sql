-- +goose Up

-- The ids of records get short: of rec_ and 26 characters the first 14 of those
-- stay (deed.RecordID.Short). Changes that are stored with payments, and callers,
-- may name a record by its old id: that leads to the new one.

-- Whoever is changing a zone is waited for, and reads its records anew afterwards.
UPDATE zones SET changed_at = changed_at;

UPDATE records SET id = substr(id, 5, 14) WHERE length(id) = 30 AND substr(id, 1, 4) = 'rec_';

-- +goose Up

-- What the registry says about a name besides its state: its identifier (ROID), and what
-- it demands to be verified about the registrant, separated by spaces, with the first
-- deadline; '' and 0 for nothing.
ALTER TABLE registrations ADD COLUMN roid      TEXT   NOT NULL DEFAULT '';
ALTER TABLE registrations ADD COLUMN verify    TEXT   NOT NULL DEFAULT '';
ALTER TABLE registrations ADD COLUMN verify_by BIGINT NOT NULL DEFAULT 0;

-- Names to compare with their registrar, each registrar at its own pace.
CREATE INDEX registrations_backend_next ON registrations (backend, next_at);

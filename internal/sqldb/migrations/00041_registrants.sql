-- +goose Up

-- Contact data that owners gave for their names, for the registry only. What they gave,
-- and why the registry refused it, is encrypted; both are erased when the owner takes
-- the data back, and when the name gets another owner or leaves us. The row stays until
-- the registry has forgotten it, too.
CREATE TABLE registrants (
    reference   TEXT   PRIMARY KEY, -- of the registration
    domain      TEXT   NOT NULL,
    backend     TEXT   NOT NULL,
    wallet      TEXT   NOT NULL,
    contact     TEXT   NOT NULL CHECK ((contact = '') = (state IN ('resetting', 'erasing'))),
    handle      TEXT   NOT NULL DEFAULT '', -- the registry's identifier of the contact
    state       TEXT   NOT NULL CHECK (state IN ('pending', 'sent', 'refused', 'resetting', 'erasing')),
    reason      TEXT   NOT NULL DEFAULT '' CHECK ((reason = '') = (state <> 'refused')),
    version     BIGINT NOT NULL,
    tries       BIGINT NOT NULL DEFAULT 0,
    updated_at  BIGINT NOT NULL,
    lease_until BIGINT NOT NULL DEFAULT 0, -- until then a call may still be executed
    next_at     BIGINT CHECK ((next_at IS NULL) = (state IN ('sent', 'refused')))
);
CREATE INDEX registrants_next ON registrants (next_at) WHERE next_at IS NOT NULL;

-- The embedded registry stores no contact, only a reference to one.
ALTER TABLE registry_names ADD COLUMN registrant TEXT NOT NULL DEFAULT '';

-- +goose Up

-- A change of the name servers of a signed name waits for the caches of resolvers
-- (RFC 6781, 4.3.5). There is at most one for a name.
CREATE TABLE delegation_moves (
    domain       TEXT   PRIMARY KEY,
    reference    TEXT   NOT NULL, -- of the registration
    wallet       TEXT   NOT NULL, -- the owner who asked for it
    step         TEXT   NOT NULL CHECK (step IN ('withdrawing', 'settling')),
    hosts        TEXT   NOT NULL, -- the new name servers
    effective_at BIGINT NOT NULL, -- when the step ends, by the clock of the registry
    created_at   BIGINT NOT NULL
);
CREATE INDEX delegation_moves_due ON delegation_moves (effective_at);

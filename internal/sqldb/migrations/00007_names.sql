-- +goose Up

-- What is bought, whole, as JSON; kind, domain and years repeat what questions
-- are asked about. Rows from before have no particulars.
ALTER TABLE payments ADD COLUMN purchase TEXT NOT NULL DEFAULT '';

-- A renewal begins at the expiry it found and leaves another behind.
ALTER TABLE jobs ADD COLUMN kind TEXT NOT NULL DEFAULT 'registration';
ALTER TABLE jobs ADD COLUMN from_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN until_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX jobs_domain ON jobs (domain, created_at);

ALTER TABLE registrations ADD COLUMN locked_at BIGINT;
ALTER TABLE registrations ADD COLUMN nameservers TEXT NOT NULL DEFAULT ''; -- with spaces between them
ALTER TABLE registrations ADD COLUMN ds TEXT NOT NULL DEFAULT '';          -- JSON
ALTER TABLE registrations ADD COLUMN premium_renewal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE registrations ADD COLUMN next_at BIGINT NOT NULL DEFAULT 0;    -- when somebody should look, by the registry's clock
CREATE INDEX registrations_next ON registrations (next_at);
CREATE INDEX registrations_expires ON registrations (owner, expires_at);

-- Names that we held once.
CREATE TABLE former_registrations (
    reference  TEXT   PRIMARY KEY,
    domain     TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    payment_id TEXT   NOT NULL UNIQUE REFERENCES payments (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    reason     TEXT   NOT NULL CHECK (reason IN ('deleted', 'transferred_out'))
);
CREATE INDEX former_registrations_domain ON former_registrations (domain);

-- What happened to a name; a notice is given once for each expiry.
CREATE TABLE events (
    reference TEXT   NOT NULL,
    type      TEXT   NOT NULL,
    about_at  BIGINT NOT NULL,
    domain    TEXT   NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (reference, type, about_at)
);
CREATE INDEX events_domain ON events (domain, at);

-- Who did what to a name. Rows are added and never changed.
CREATE TABLE acts (
    reference TEXT   NOT NULL,
    n         BIGINT NOT NULL,
    domain    TEXT   NOT NULL,
    wallet    TEXT   NOT NULL,
    act       TEXT   NOT NULL CHECK (act IN ('authcode', 'lock', 'unlock', 'nameservers', 'handover')),
    detail    TEXT   NOT NULL, -- the new owner, the new name servers
    at        BIGINT NOT NULL,
    PRIMARY KEY (reference, n)
);

-- The price lists that we published, as JSON, so that what was quoted can be
-- paid for a while after it changed.
CREATE TABLE price_lists (
    n        BIGINT PRIMARY KEY,
    since_at BIGINT NOT NULL,
    listings TEXT   NOT NULL
);

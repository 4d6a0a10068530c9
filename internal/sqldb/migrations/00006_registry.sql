-- +goose Up

-- Orders that renew a name or bring it from another account. An accepted
-- transfer stays placed, and is due again when the other side's time is over.
ALTER TABLE registry_orders ADD COLUMN kind TEXT NOT NULL DEFAULT 'register' CHECK (kind IN ('register', 'renew', 'transfer'));
ALTER TABLE registry_orders ADD COLUMN from_at BIGINT CHECK (from_at IS NULL OR kind = 'renew'); -- the expiry that a renewal begins at
ALTER TABLE registry_orders ADD COLUMN restore BIGINT NOT NULL DEFAULT 0 CHECK (restore = 0 OR restore = 1 AND kind = 'renew');
ALTER TABLE registry_orders ADD COLUMN auth_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE registry_orders ADD COLUMN nameservers TEXT NOT NULL DEFAULT ''; -- with a blank between them
ALTER TABLE registry_orders ADD COLUMN grace_days BIGINT NOT NULL DEFAULT 45 CHECK (grace_days >= 0);
ALTER TABLE registry_orders ADD COLUMN reason TEXT NOT NULL DEFAULT ''; -- of a refusal, for a person
ALTER TABLE registry_orders ADD COLUMN accepted_at BIGINT CHECK (accepted_at IS NULL OR kind = 'transfer');
ALTER TABLE registry_orders ADD COLUMN created_at BIGINT; -- of the name, as a done order left it
ALTER TABLE registry_orders ADD COLUMN expires_at BIGINT CHECK (expires_at > created_at);
CREATE INDEX registry_orders_due ON registry_orders (due_at) WHERE state = 'placed';

-- One transfer at a time.
CREATE UNIQUE INDEX registry_orders_pending ON registry_orders (name) WHERE state = 'placed' AND accepted_at IS NOT NULL;

-- What a holder can say about a name.
ALTER TABLE registry_names ADD COLUMN moved_at BIGINT; -- when it came from another account
ALTER TABLE registry_names ADD COLUMN grace_days BIGINT NOT NULL DEFAULT 45 CHECK (grace_days >= 0);
ALTER TABLE registry_names ADD COLUMN locked BIGINT NOT NULL DEFAULT 1 CHECK (locked IN (0, 1));
ALTER TABLE registry_names ADD COLUMN auth_hash TEXT NOT NULL DEFAULT ''; -- of the one code that is good
ALTER TABLE registry_names ADD COLUMN nameservers TEXT NOT NULL DEFAULT '';
ALTER TABLE registry_names ADD COLUMN ds TEXT NOT NULL DEFAULT ''; -- as in a master file, a comma between them
CREATE INDEX registry_names_account ON registry_names (account, name);

-- The fault that is on at the embedded registry, for all nodes. Times 0 is until
-- it is switched off.
CREATE TABLE registry_faults (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    kind  TEXT   NOT NULL CHECK (kind <> ''),
    times BIGINT NOT NULL CHECK (times >= 0)
);

-- How far the sandbox has moved the calendar, in nanoseconds; a hundred years at
-- most.
CREATE TABLE calendar (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    ahead BIGINT NOT NULL CHECK (ahead BETWEEN 0 AND 3155760000000000000)
);

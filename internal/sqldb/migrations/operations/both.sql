-- The processes that share this database, each with the time of its last write.
CREATE TABLE nodes (
    id         TEXT   PRIMARY KEY, -- random, new at each start
    host       TEXT   NOT NULL,
    version    TEXT   NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

-- What operators did, and why. Rows are added and never changed: triggers see to it.
CREATE TABLE operator_actions (
    id       TEXT   PRIMARY KEY,
    at       BIGINT NOT NULL, -- Unix milliseconds
    operator TEXT   NOT NULL CHECK (operator <> ''),
    action   TEXT   NOT NULL CHECK (action <> ''),
    target   TEXT   NOT NULL,
    reason   TEXT   NOT NULL CHECK (reason <> ''),
    outcome  TEXT   NOT NULL
);
CREATE INDEX operator_actions_at ON operator_actions (at);
CREATE INDEX operator_actions_target ON operator_actions (target, at);

-- Activities that operators have stopped on all nodes.
CREATE TABLE stop_switches (
    name       TEXT   PRIMARY KEY CHECK (name IN ('purchases', 'refunds', 'publishing')),
    reason     TEXT   NOT NULL,
    stopped_at BIGINT NOT NULL
);

-- Wallets that may not buy anything.
CREATE TABLE blocked_wallets (
    wallet     TEXT   PRIMARY KEY,
    reason     TEXT   NOT NULL,
    blocked_at BIGINT NOT NULL
);

-- Names whose zones are not served, because of abuse.
CREATE TABLE suspensions (
    domain       TEXT   PRIMARY KEY,
    reason       TEXT   NOT NULL,
    suspended_at BIGINT NOT NULL
);

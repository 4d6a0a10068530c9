-- +goose Up

-- What owners are told, numbered for each wallet in the order of the commits. Rows are
-- added and never changed.
CREATE TABLE owner_events (
    owner TEXT   NOT NULL,
    n     BIGINT NOT NULL,
    id    TEXT   NOT NULL,
    type  TEXT   NOT NULL,
    data  TEXT   NOT NULL, -- event.Data as JSON
    at    BIGINT NOT NULL,
    PRIMARY KEY (owner, n)
);

-- The number of the last event of each wallet. Its row is locked until the commit, so
-- that no event becomes visible after one with a higher number.
CREATE TABLE event_counters (
    owner TEXT   PRIMARY KEY,
    n     BIGINT NOT NULL
);

-- +goose Up

-- How often each caller called in each window that must outlive a restart.
-- The key leads with the end of the window, so that ended windows lie together
-- and are deleted as one range.
CREATE TABLE limits (
    ends BIGINT NOT NULL, -- Unix seconds
    key  TEXT   NOT NULL,
    n    BIGINT NOT NULL CHECK (n > 0),
    PRIMARY KEY (ends, key)
);

-- +goose Up

-- The steps of a job are few, written with it and read with it, so they are part of its
-- row: "awaiting_payment 1700000000,queued 1700000002".
ALTER TABLE jobs ADD COLUMN steps TEXT NOT NULL DEFAULT '';
UPDATE jobs SET steps = coalesce((SELECT string_agg(state || ' ' || at, ',' ORDER BY n) FROM job_steps WHERE job_id = jobs.id), '');
DROP TABLE job_steps;

-- +goose Down

CREATE TABLE job_steps (
    job_id TEXT   NOT NULL REFERENCES jobs (id),
    n      BIGINT NOT NULL,
    state  TEXT   NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (job_id, n)
);
ALTER TABLE jobs DROP COLUMN steps;

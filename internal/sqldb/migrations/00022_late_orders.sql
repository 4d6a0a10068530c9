-- +goose Up

-- Orders that were given up and refunded, although their registry may still execute
-- them: each is looked up for some time. There is one for each failed job that placed
-- an order.
CREATE TABLE late_orders (
    job_id    TEXT   PRIMARY KEY,
    domain    TEXT   NOT NULL,
    state     TEXT   NOT NULL CHECK (state IN ('watching', 'held', 'deleting', 'deleted', 'unpaid', 'ended')),
    checks    BIGINT NOT NULL,
    failed_at BIGINT NOT NULL,
    found_at  BIGINT NOT NULL, -- 0: it was not executed
    detail    TEXT   NOT NULL, -- for operators
    next_at   BIGINT           -- of the next check; NULL: none
);
CREATE INDEX late_orders_due ON late_orders (next_at);
CREATE INDEX late_orders_domain ON late_orders (domain);

-- Earlier ones are looked up once more.
INSERT INTO late_orders (job_id, domain, state, checks, failed_at, found_at, detail, next_at)
SELECT id, domain, 'watching', 0, updated_at, 0, '', updated_at
  FROM jobs WHERE state = 'failed' AND attempts > 0 AND kind IN ('registration', 'renewal', 'transfer');

-- Why an open job waits.
ALTER TABLE jobs ADD COLUMN cause TEXT NOT NULL DEFAULT '';

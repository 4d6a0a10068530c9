-- +goose Up

-- Zones whose change is not everywhere yet lie together.
CREATE INDEX outbox_due ON outbox (at) WHERE told < serial;

-- +goose Up

-- Names that wait for their DS record, for the worker that asks twice a second. It
-- must not read all names each time.
CREATE INDEX registrations_unsigned ON registrations (nameservers, domain) WHERE ds = '' AND status = 'active';

-- Transfers without a request are few among all payments.
CREATE INDEX payments_unclaimed ON payments (created_at) WHERE state = 'unclaimed';

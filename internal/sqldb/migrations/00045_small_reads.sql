-- +goose Up

-- What is read at a start or every minute is found without reading all rows.
CREATE INDEX payments_settled ON payments (created_at) WHERE state = 'settled';
CREATE INDEX late_orders_open ON late_orders (found_at) WHERE state IN ('held', 'deleting');
CREATE INDEX registrations_suspended ON registrations (domain) WHERE status = 'suspended';

-- +goose Down

DROP INDEX registrations_suspended;
DROP INDEX late_orders_open;
DROP INDEX payments_settled;

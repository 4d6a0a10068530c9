-- +goose Up

-- An audit of what changed lately finds it without reading all rows.
CREATE INDEX payments_changed ON payments (changed_at);
CREATE INDEX payments_dust ON payments (created_at) WHERE state = 'dust';
CREATE INDEX registrations_updated ON registrations (updated_at);
CREATE INDEX mandates_updated ON mandates (updated_at);
CREATE INDEX late_orders_unpaid ON late_orders (found_at) WHERE state = 'unpaid';

-- +goose Down

DROP INDEX late_orders_unpaid;
DROP INDEX mandates_updated;
DROP INDEX registrations_updated;
DROP INDEX payments_dust;
DROP INDEX payments_changed;

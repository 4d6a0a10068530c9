-- +goose Up

-- How often a purchase was signed again is counted before a payment is accepted.
CREATE INDEX payments_alias ON payments (alias_of) WHERE alias_of IS NOT NULL;

-- +goose Down
DROP INDEX payments_alias;

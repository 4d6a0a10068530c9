-- +goose Up

-- Names of a wallet are read in pages, by name.
CREATE INDEX registrations_owner_domain ON registrations (owner, domain);
DROP INDEX registrations_owner;

-- +goose Down

CREATE INDEX registrations_owner ON registrations (owner);
DROP INDEX registrations_owner_domain;

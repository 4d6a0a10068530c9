-- +goose Up

-- The account at the certificate authority, the certificates of hosts with a FORWARD
-- record with their keys, and open challenges: small encrypted files, by their paths.
CREATE TABLE certificate_files (
    key      TEXT   PRIMARY KEY,
    sealed   TEXT   NOT NULL,
    saved_at BIGINT NOT NULL
);

-- Who orders a certificate now. A node that ends without a release loses its lock.
CREATE TABLE certificate_locks (
    name        TEXT   PRIMARY KEY,
    holder      TEXT   NOT NULL,
    lease_until BIGINT NOT NULL
);

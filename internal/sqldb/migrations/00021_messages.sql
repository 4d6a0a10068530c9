-- +goose Up

-- What registries told us, as they wrote it. Rows are added and never changed.
CREATE TABLE registry_messages (
    backend    TEXT   NOT NULL,
    id         TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    domain     TEXT   NOT NULL,
    status     TEXT   NOT NULL,
    text       TEXT   NOT NULL,
    raw        TEXT   NOT NULL, -- base64
    sent_at    BIGINT NOT NULL, -- by the registry's clock
    created_at BIGINT NOT NULL,
    PRIMARY KEY (backend, id, sent_at)
);
CREATE INDEX registry_messages_domain ON registry_messages (domain, created_at);

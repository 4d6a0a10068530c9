-- +goose Up

-- Addresses of name servers below the name itself: "ns1.example.com=192.0.2.1,… …".
ALTER TABLE registrations    ADD COLUMN glue TEXT NOT NULL DEFAULT '';
ALTER TABLE registry_names   ADD COLUMN glue TEXT NOT NULL DEFAULT '';
ALTER TABLE delegation_moves ADD COLUMN glue TEXT NOT NULL DEFAULT '';

-- What the registry said about a name the last time: its statuses, and the phase with
-- the time when it was first seen in it; '' and 0 until it was asked.
ALTER TABLE registrations ADD COLUMN epp_status TEXT   NOT NULL DEFAULT '';
ALTER TABLE registrations ADD COLUMN phase      TEXT   NOT NULL DEFAULT '';
ALTER TABLE registrations ADD COLUMN phase_at   BIGINT NOT NULL DEFAULT 0;

-- +goose Up

-- Which registrar holds a name, and which one the order of a job was submitted to.
-- All earlier names are in the embedded registry, whose backend is "local".
ALTER TABLE registrations ADD COLUMN backend TEXT NOT NULL DEFAULT 'local';
ALTER TABLE jobs ADD COLUMN backend TEXT NOT NULL DEFAULT 'local';

-- +goose Up

-- When something is due to a webhook, or NULL if nothing is pending, so that the dispatcher
-- reads only what is due; and when it was served last, so that owners take turns.
ALTER TABLE webhooks ADD COLUMN due_at BIGINT;
ALTER TABLE webhooks ADD COLUMN served_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhooks_host ON webhooks (host);
UPDATE webhooks SET due_at = 0 WHERE id IN (SELECT webhook FROM webhook_deliveries WHERE state = 'pending');

-- +goose Down

DROP INDEX webhooks_due;
DROP INDEX webhooks_host;
ALTER TABLE webhooks DROP COLUMN due_at;
ALTER TABLE webhooks DROP COLUMN served_at;

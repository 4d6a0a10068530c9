ALTER TABLE payments
    ADD COLUMN public_id TEXT,
    ADD COLUMN refund_id TEXT   NOT NULL DEFAULT '',
    ADD COLUMN tries     BIGINT NOT NULL DEFAULT 0,  -- since it reached its state
    ADD COLUMN stuck_at  BIGINT,                     -- since when its transfer would fail
    ADD COLUMN cause     TEXT   NOT NULL DEFAULT '', -- why it waits
    ADD COLUMN lost_at   BIGINT,                     -- when money was found that we settled and have no request for: the database is older than the chain
    DROP CONSTRAINT payments_state_check,
    DROP CONSTRAINT payments_check,
    DROP CONSTRAINT payments_check1,
    DROP CONSTRAINT payments_check2,
    DROP CONSTRAINT payments_check3;
UPDATE payments SET public_id = id;
ALTER TABLE payments
    ALTER COLUMN public_id SET NOT NULL,
    ADD CONSTRAINT payments_public_id UNIQUE (public_id),
    ADD CONSTRAINT payments_state CHECK (state IN ('authorized', 'settling', 'settled', 'consumed', 'refund_due', 'refunding',
                                                   'refunded', 'void', 'released', 'unclaimed', 'dust')),
    ADD CONSTRAINT payments_tx_hash CHECK ((tx_hash = '') = (state IN ('authorized', 'settling', 'void', 'released'))),
    ADD CONSTRAINT payments_refund_tx CHECK ((refund_tx = '') = (state <> 'refunded')),
    ADD CONSTRAINT payments_alias CHECK (alias_of IS NULL OR state = 'authorized' OR state = 'void'),
    ADD CONSTRAINT payments_next_at CHECK (state = 'unclaimed' OR
        (next_at IS NULL) = (state IN ('consumed', 'refunded', 'void', 'released', 'dust', 'settled') OR alias_of IS NOT NULL));

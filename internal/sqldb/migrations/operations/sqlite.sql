CREATE TRIGGER operator_actions_no_update BEFORE UPDATE ON operator_actions BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;
CREATE TRIGGER operator_actions_no_delete BEFORE DELETE ON operator_actions BEGIN SELECT RAISE(ABORT, 'operator_actions is append-only'); END;

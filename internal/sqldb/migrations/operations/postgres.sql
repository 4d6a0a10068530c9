CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;
CREATE TRIGGER operator_actions_append_only BEFORE UPDATE OR DELETE ON operator_actions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operator_actions_no_truncate BEFORE TRUNCATE ON operator_actions FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

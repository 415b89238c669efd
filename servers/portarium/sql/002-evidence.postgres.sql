-- Evidence is appended, and never changed or deleted.
CREATE FUNCTION evidence_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'evidence is never changed or deleted';
END
$$;

CREATE TRIGGER evidence_is_kept BEFORE UPDATE OR DELETE ON evidence
    FOR EACH ROW EXECUTE FUNCTION evidence_is_kept();

CREATE TRIGGER evidence_is_not_truncated BEFORE TRUNCATE ON evidence
    FOR EACH STATEMENT EXECUTE FUNCTION evidence_is_kept();

-- A second fence between workspaces: a transaction that names its workspace (store/tx.c) sees and
-- writes rows of that one alone. Those that look for what is due in all of them name none.
DO $$
DECLARE
    place TEXT;
BEGIN
    FOR place IN SELECT c.table_name FROM information_schema.columns c
        JOIN information_schema.tables t USING (table_schema, table_name)
        WHERE c.table_schema = current_schema() AND c.column_name = 'workspace'
        AND t.table_type = 'BASE TABLE'
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', place);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', place);
        EXECUTE format('CREATE POLICY of_workspace ON %I USING (COALESCE(current_setting('
                       '''portarium.workspace'', true), '''') IN ('''', workspace))', place);
    END LOOP;
END
$$;

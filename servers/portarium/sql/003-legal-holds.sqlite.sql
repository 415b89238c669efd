-- Orders to keep payloads: of a run, or of the whole workspace.
CREATE TABLE legal_holds (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    run_id TEXT,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX legal_holds_run ON legal_holds (workspace, run_id);

-- The state of casparian: jobs with their events and files, approvals, what was written, plugins,
-- contracts and registered files. SQLite alone. Times are milliseconds since 1970 in UTC; columns
-- that end in _json hold JSON texts; a boolean is 0 or 1.

-- A job is claimed by lease (kit/jobs): lease_owner is the runner's id, lease_until the end of its
-- claim, and the fence rises with each claim, so a runner that has lost a job changes nothing.
CREATE TABLE cf_api_jobs (
    job_id INTEGER PRIMARY KEY AUTOINCREMENT,
    job_type TEXT NOT NULL CHECK (job_type IN ('backtest', 'run', 'preview')),
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    plugin_name TEXT NOT NULL,
    plugin_version TEXT NOT NULL,
    plugin_ref_json TEXT NOT NULL,
    plugin_path TEXT, -- of a plugin in development, absolute
    artifact_hash TEXT,
    input_dir TEXT NOT NULL,
    output_sink TEXT,
    approval_id TEXT,
    job_spec_json TEXT NOT NULL,
    priority BIGINT NOT NULL DEFAULT 0,
    timeout_ms BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    finished_at BIGINT,
    cancel_requested BIGINT NOT NULL DEFAULT 0,
    restart_count BIGINT NOT NULL DEFAULT 0,
    error_code TEXT,
    error_message TEXT,
    progress_phase TEXT,
    progress_items_done BIGINT,
    progress_items_total BIGINT,
    progress_message TEXT,
    progress_json TEXT,
    progress_updated_at BIGINT,
    is_stalled BIGINT NOT NULL DEFAULT 0, -- the event 'stalled' was written, and no 'resumed' since
    dropped_events BIGINT NOT NULL DEFAULT 0,
    result_rows_processed BIGINT,
    result_bytes_written BIGINT,
    result_outputs_json TEXT,
    result_metrics_json TEXT,
    result_json TEXT,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX cf_api_jobs_status ON cf_api_jobs (status, created_at);
CREATE INDEX cf_api_jobs_created ON cf_api_jobs (created_at DESC);
CREATE INDEX cf_api_jobs_approval ON cf_api_jobs (approval_id);
CREATE INDEX cf_api_jobs_queue ON cf_api_jobs (priority DESC, job_id) WHERE status = 'queued';
CREATE INDEX cf_api_jobs_leased ON cf_api_jobs (lease_until) WHERE lease_owner IS NOT NULL;

-- Numbered 1, 2, 3, ... within each job.
CREATE TABLE cf_api_events (
    event_id BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    event_type TEXT NOT NULL,
    timestamp BIGINT NOT NULL,
    payload_json TEXT NOT NULL,
    PRIMARY KEY (job_id, event_id)
);

-- revision and subject_hash are those of kit/approvals; the subject is the snapshot.
CREATE TABLE cf_api_approvals (
    approval_id TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired')),
    revision BIGINT NOT NULL DEFAULT 1,
    subject_hash TEXT NOT NULL,
    operation_type TEXT NOT NULL CHECK (operation_type IN ('run', 'schema_promote')),
    operation_json TEXT NOT NULL,
    summary TEXT NOT NULL,
    snapshot_json TEXT NOT NULL,
    job_spec_json TEXT, -- of the job that a 'run' becomes
    requested_by TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT,
    rejection_reason TEXT,
    job_id BIGINT,
    result_json TEXT
);
CREATE INDEX cf_api_approvals_status ON cf_api_approvals (status, created_at);
CREATE INDEX cf_api_approvals_due ON cf_api_approvals (expires_at) WHERE status = 'pending';

-- The frozen inputs of a request to run, which become those of its job; and what became of each
-- file of a job.
CREATE TABLE cf_api_job_files (
    row_id INTEGER PRIMARY KEY AUTOINCREMENT,
    approval_id TEXT,
    job_id BIGINT,
    path TEXT NOT NULL,
    size BIGINT NOT NULL,
    mtime BIGINT NOT NULL, -- nanoseconds
    inode BIGINT NOT NULL,
    sha256 TEXT,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'ok', 'failed', 'skipped', 'changed')),
    rows BIGINT,
    rows_quarantined BIGINT,
    error_kind TEXT,
    error_message TEXT,
    duration_ms BIGINT,
    UNIQUE (job_id, path),
    UNIQUE (approval_id, path)
);

-- What jobs have committed, and what they are about to: a row is made with the intent of the commit
-- (is_committed 0), and counts from the commit on. deleted_at: the file was found to be gone.
CREATE TABLE cf_outputs (
    output_id INTEGER PRIMARY KEY AUTOINCREMENT,
    output_name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('output', 'quarantine')),
    sink_uri TEXT NOT NULL,
    format TEXT NOT NULL,
    location TEXT NOT NULL, -- of a file; DATABASE#TABLE for rows of a table
    job_id BIGINT NOT NULL,
    plugin_name TEXT NOT NULL,
    plugin_version TEXT NOT NULL,
    artifact_hash TEXT,
    schema_json TEXT NOT NULL,
    schema_hash TEXT NOT NULL,
    protocol_schema_hash TEXT NOT NULL,
    rows BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT,
    manifest_sha256 TEXT,
    created_at BIGINT NOT NULL,
    is_committed BIGINT NOT NULL,
    deleted_at BIGINT,
    UNIQUE (location, job_id)
);
CREATE INDEX cf_outputs_name ON cf_outputs (output_name, kind, job_id);
CREATE INDEX cf_outputs_job ON cf_outputs (job_id);

-- A version of a file that a version of a parser has put into an output: one row for each job that
-- did, since a query takes the rows of a file from the newest of them alone.
CREATE TABLE cf_output_materializations (
    materialization_key TEXT NOT NULL,
    output_target_key TEXT NOT NULL,
    file_id BIGINT NOT NULL,
    file_mtime BIGINT NOT NULL,
    file_size BIGINT NOT NULL,
    plugin_name TEXT NOT NULL,
    parser_version TEXT NOT NULL,
    parser_fingerprint TEXT NOT NULL,
    output_name TEXT NOT NULL,
    sink_uri TEXT NOT NULL,
    sink_mode TEXT NOT NULL,
    table_name TEXT,
    schema_hash TEXT,
    source_hash TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('success', 'partial_success', 'no_data')),
    rows BIGINT NOT NULL,
    job_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (materialization_key, job_id)
);
CREATE INDEX cf_output_materializations_file
    ON cf_output_materializations (output_name, file_id, job_id);
CREATE INDEX cf_output_materializations_parser
    ON cf_output_materializations (parser_fingerprint, sink_uri);

CREATE TABLE cf_quarantine_summary (
    job_id BIGINT NOT NULL,
    job_type TEXT NOT NULL,
    plugin_name TEXT NOT NULL,
    plugin_version TEXT NOT NULL,
    output_name TEXT NOT NULL,
    rows_emitted BIGINT NOT NULL,
    rows_quarantined BIGINT NOT NULL,
    contexts_json TEXT NOT NULL, -- samples are redacted by the job's policy
    created_at BIGINT NOT NULL,
    PRIMARY KEY (job_id, output_name)
);
CREATE INDEX cf_quarantine_summary_plugin ON cf_quarantine_summary (plugin_name, output_name);

-- A job that has passed the commit guard: its files get their names now. Its outputs, results and
-- materializations are stored with this row, so another runner can settle it. It goes with the
-- commit.
CREATE TABLE cf_commit_intents (
    job_id BIGINT PRIMARY KEY,
    pairs_json TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE cf_plugin_manifest (
    plugin_name TEXT NOT NULL,
    version TEXT NOT NULL,
    runtime TEXT NOT NULL,
    entrypoint TEXT NOT NULL,
    os TEXT NOT NULL,
    arch TEXT NOT NULL,
    dir TEXT NOT NULL,
    artifact_hash TEXT NOT NULL,
    signer TEXT,
    signature_ok BIGINT NOT NULL,
    outputs_json TEXT NOT NULL,
    topics_json TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'deactivated')),
    PRIMARY KEY (plugin_name, version, os, arch)
);

-- Approved contracts; the newest version of a scope counts.
CREATE TABLE schema_contracts (
    contract_id TEXT PRIMARY KEY,
    scope_id TEXT NOT NULL,
    scope_description TEXT NOT NULL,
    logic_hash TEXT,
    approved_at BIGINT NOT NULL,
    approved_by TEXT NOT NULL,
    version BIGINT NOT NULL,
    schemas_json TEXT NOT NULL,
    quarantine_json TEXT,
    UNIQUE (scope_id, version)
);

CREATE TABLE scout_sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    source_type TEXT NOT NULL DEFAULT 'local',
    path TEXT NOT NULL,
    enabled BIGINT NOT NULL DEFAULT 1,
    poll_interval_secs BIGINT NOT NULL DEFAULT 30,
    created_at BIGINT NOT NULL,
    last_scan_at BIGINT,
    UNIQUE (workspace_id, name),
    UNIQUE (workspace_id, path)
);

CREATE TABLE scout_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT NOT NULL REFERENCES scout_sources (id) ON DELETE CASCADE,
    pattern TEXT NOT NULL,
    tag TEXT NOT NULL,
    priority BIGINT NOT NULL DEFAULT 0,
    enabled BIGINT NOT NULL DEFAULT 1,
    UNIQUE (source_id, pattern, tag)
);

-- source_id is null for a file that only a job has seen.
CREATE TABLE scout_files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id BIGINT REFERENCES scout_sources (id) ON DELETE CASCADE,
    file_uid TEXT,
    path TEXT NOT NULL UNIQUE,
    rel_path TEXT NOT NULL,
    parent_path TEXT NOT NULL,
    name TEXT NOT NULL,
    extension TEXT,
    size BIGINT NOT NULL,
    mtime BIGINT NOT NULL, -- seconds
    content_hash TEXT,
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN
        ('pending', 'tagged', 'queued', 'processing', 'processed', 'failed', 'skipped', 'deleted')),
    first_seen_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    last_error TEXT
);
CREATE INDEX scout_files_source ON scout_files (source_id, rel_path);

CREATE TABLE scout_file_tags (
    file_id BIGINT NOT NULL REFERENCES scout_files (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    tag_source TEXT NOT NULL CHECK (tag_source IN ('rule', 'manual')),
    rule_id BIGINT,
    PRIMARY KEY (file_id, tag)
);
CREATE INDEX scout_file_tags_tag ON scout_file_tags (tag);

CREATE TABLE cf_high_failure_files (
    plugin_name TEXT NOT NULL,
    path TEXT NOT NULL,
    consecutive_failures BIGINT NOT NULL,
    last_error_category TEXT,
    last_tested_at BIGINT NOT NULL,
    resolved_at BIGINT,
    PRIMARY KEY (plugin_name, path)
);

-- Runners of all processes, so that a command knows whether anybody will run its job.
CREATE TABLE cf_runners (
    runner_id TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL
);

-- Workspaces, and what each of them has. A record is a JSON document as clients see it (json), what
-- clients never see (hidden), and columns that lists filter by, copied from the document's members
-- (store/collections.c). Times are milliseconds since 1970.

-- Here `workspace` is the record's own id.
CREATE TABLE workspaces (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    name TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    PRIMARY KEY (workspace, id),
    UNIQUE (tenant_id, name)
);

-- One row a workspace, locked first by everything that changes the workspace: the ends of its chain
-- of evidence and of its sequence of events. Both have the order of commits.
CREATE TABLE heads (
    workspace TEXT PRIMARY KEY,
    evidence_seq BIGINT NOT NULL,
    evidence_hash TEXT,
    evidence_at BIGINT NOT NULL,
    event_seq BIGINT NOT NULL,
    frozen BIGINT NOT NULL
);

CREATE TABLE users (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    active BIGINT NOT NULL,
    email TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);

-- A token is stored as its SHA-256 alone.
CREATE TABLE api_tokens (
    hash TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    subject TEXT NOT NULL,
    roles TEXT NOT NULL,
    tier TEXT,
    agent_id TEXT,
    machine_id TEXT,
    owner TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    UNIQUE (workspace, id)
);

-- The newest version of each definition; a stored version never changes.
CREATE TABLE workflows (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    active BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX workflows_name ON workflows (workspace, name);

CREATE TABLE workflow_versions (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (workspace, id, version)
);

CREATE TABLE adapters (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    port_family TEXT NOT NULL,
    enabled BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX adapters_family ON adapters (workspace, port_family);

CREATE TABLE policies (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    name TEXT NOT NULL,
    active BIGINT NOT NULL,
    PRIMARY KEY (workspace, id)
);

-- due_at: when the engine has something to do for the run; NULL: it waits for somebody else.
CREATE TABLE runs (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    status TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    started_at TEXT,
    due_at BIGINT,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX runs_created ON runs (workspace, created_at, id);
CREATE INDEX runs_status ON runs (workspace, status, created_at, id);
CREATE INDEX runs_workflow ON runs (workspace, workflow_id, created_at, id);
CREATE INDEX runs_due ON runs (due_at) WHERE due_at IS NOT NULL;

-- id is RUN/ACTION. lease_*: an executor's claim, see engine/dispatch.h.
CREATE TABLE run_actions (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    run_id TEXT NOT NULL,
    ord BIGINT NOT NULL,
    state TEXT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX run_actions_run ON run_actions (workspace, run_id, ord);
CREATE INDEX run_actions_lease ON run_actions (lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE action_attempts (
    workspace TEXT NOT NULL,
    run_id TEXT NOT NULL,
    action_id TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    outcome TEXT,
    error_class TEXT,
    PRIMARY KEY (workspace, run_id, action_id, attempt)
);

CREATE TABLE plans (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE approvals (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    status TEXT NOT NULL,
    run_id TEXT,
    plan_id TEXT,
    work_item_id TEXT,
    assignee TEXT,
    requested_by TEXT NOT NULL,
    prompt TEXT NOT NULL,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX approvals_status ON approvals (workspace, status, created_at, id);
CREATE INDEX approvals_created ON approvals (workspace, created_at, id);
CREATE INDEX approvals_run ON approvals (workspace, run_id);

CREATE TABLE approval_decisions (
    workspace TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    decision TEXT NOT NULL,
    rationale TEXT NOT NULL,
    roles TEXT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, approval_id, user_id)
);

-- Agent actions that were proposed, and calls of the gate.
CREATE TABLE proposals (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    approval_id TEXT,
    agent_id TEXT,
    subject_hash TEXT,
    idempotency_key TEXT,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX proposals_approval ON proposals (workspace, approval_id);
CREATE INDEX proposals_key ON proposals (workspace, agent_id, idempotency_key);

CREATE TABLE work_items (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    status TEXT NOT NULL,
    owner TEXT,
    title TEXT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX work_items_created ON work_items (workspace, created_at, id);
CREATE INDEX work_items_status ON work_items (workspace, status, created_at, id);

-- kind: run, workflow, approval, evidence or agent.
CREATE TABLE work_item_links (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    work_item_id TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, ref, work_item_id)
);
CREATE INDEX work_item_links_item ON work_item_links (workspace, work_item_id);

CREATE TABLE human_tasks (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    status TEXT NOT NULL,
    run_id TEXT NOT NULL,
    assignee TEXT,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX human_tasks_run ON human_tasks (workspace, run_id);
CREATE INDEX human_tasks_status ON human_tasks (workspace, status, created_at, id);

CREATE TABLE machines (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    active BIGINT NOT NULL,
    display_name TEXT,
    PRIMARY KEY (workspace, id)
);

CREATE TABLE agents (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    machine_id TEXT NOT NULL,
    display_name TEXT,
    PRIMARY KEY (workspace, id)
);

-- Heartbeats of agents and machines (kind). They do not change the records. offline: its absence was
-- noted.
CREATE TABLE heartbeats (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    at BIGINT NOT NULL,
    json TEXT,
    offline BIGINT NOT NULL,
    PRIMARY KEY (workspace, kind, id)
);
CREATE INDEX heartbeats_silent ON heartbeats (at) WHERE offline = 0;

-- json is the canonical text that was hashed, with hashSha256.
CREATE TABLE evidence (
    workspace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    category TEXT NOT NULL,
    run_id TEXT,
    plan_id TEXT,
    work_item_id TEXT,
    approval_id TEXT,
    hash TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (workspace, seq),
    UNIQUE (workspace, id)
);
CREATE INDEX evidence_run ON evidence (workspace, run_id, seq);
CREATE INDEX evidence_category ON evidence (workspace, category, seq);

-- Full tiles of 256 hashes of the Merkle tree.
CREATE TABLE evidence_tiles (
    workspace TEXT NOT NULL,
    level BIGINT NOT NULL,
    n BIGINT NOT NULL,
    hashes BLOB NOT NULL,
    PRIMARY KEY (workspace, level, n)
);

CREATE TABLE checkpoints (
    workspace TEXT NOT NULL,
    size BIGINT NOT NULL,
    note TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, size)
);
CREATE INDEX checkpoints_age ON checkpoints (workspace, created_at);

CREATE TABLE payloads (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    run_id TEXT,
    sha256 TEXT NOT NULL,
    media TEXT NOT NULL,
    class TEXT NOT NULL,
    bytes BLOB,
    created_at BIGINT NOT NULL,
    disposed_at BIGINT,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX payloads_age ON payloads (class, created_at) WHERE disposed_at IS NULL;

-- What a POST with a key was answered.
CREATE TABLE idempotency (
    workspace TEXT NOT NULL,
    command TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status BIGINT NOT NULL,
    response TEXT,
    location TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, command, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

-- Events, in the order of commits; seq has no gap within a workspace.
CREATE TABLE outbox (
    workspace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    type TEXT NOT NULL,
    kind TEXT NOT NULL,
    aggregate TEXT NOT NULL,
    run_id TEXT,
    json TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, seq)
);
CREATE INDEX outbox_age ON outbox (created_at);

-- delivered: the last event that the receiver has taken.
CREATE TABLE webhooks (
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    revision BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    json TEXT NOT NULL,
    hidden TEXT,
    delivered BIGINT NOT NULL DEFAULT 0,
    failures BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX webhooks_next ON webhooks (next_at) WHERE next_at IS NOT NULL;

-- The last judgements of policies, for simulations.
CREATE TABLE evaluations (
    workspace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    context TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (workspace, seq)
);

-- Credentials that the workspace stores itself, sealed by the host's key.
CREATE TABLE credentials (
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (workspace, name)
);

-- Uses of autonomy budgets.
CREATE TABLE budget_uses (
    workspace TEXT NOT NULL,
    metric TEXT NOT NULL,
    run_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, metric, run_id, seq)
);
CREATE INDEX budget_uses_age ON budget_uses (workspace, metric, at);

-- Moments at which something is to be done (kit/jobs/timers.h).
CREATE TABLE timers (
    id TEXT PRIMARY KEY,
    due_at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL
);
CREATE INDEX timers_due ON timers (due_at) WHERE lease_owner IS NULL;
CREATE INDEX timers_leased ON timers (lease_until) WHERE lease_owner IS NOT NULL;

-- Universes, the log of what changed them, and snapshots that bound how long a start takes.
-- The log is the truth: version N of a universe is its newest snapshot at or before N and the entries after it.

CREATE TABLE universes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    bodies BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted_at BIGINT
);

CREATE INDEX universes_newest ON universes (created_at, id);

-- An entry leads from version first_version - 1 to version; ticks of one commit share an entry.
CREATE TABLE universe_commands (
    universe_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    first_version BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    rules BIGINT NOT NULL,
    command BLOB NOT NULL,
    command_packed BIGINT NOT NULL,
    events BLOB NOT NULL,
    events_packed BIGINT NOT NULL,
    touched BLOB,
    touched_packed BIGINT NOT NULL,
    time DOUBLE PRECISION NOT NULL,
    actor TEXT,
    applied_at BIGINT NOT NULL,
    PRIMARY KEY (universe_id, version)
);

CREATE TABLE universe_snapshots (
    universe_id TEXT NOT NULL,
    version BIGINT NOT NULL,
    snapshot_id TEXT NOT NULL,
    format BIGINT NOT NULL,
    parts BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    pinned BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (universe_id, version)
);

CREATE INDEX universe_snapshots_parts ON universe_snapshots (snapshot_id);

-- Parts are written before the row that names them, so an unfinished snapshot is never seen.
CREATE TABLE universe_snapshot_parts (
    snapshot_id TEXT NOT NULL,
    part BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (snapshot_id, part)
);

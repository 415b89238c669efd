-- About how long a state's JSON is, so that a list need not load what would not fit into it. -1: not known, of
-- universes that were not changed since.
ALTER TABLE universes ADD COLUMN bytes BIGINT NOT NULL DEFAULT -1;

-- When a commit could not be settled, because a folder of it was away; NULL: it was not
-- tried, or is tried now. Its job counts as none that runs, so that others need not wait for the folder.
ALTER TABLE cf_commit_intents ADD COLUMN deferred_at BIGINT;

-- How many runs of the workspace are Pending, so that a start need not count them. A process of an
-- older version does not keep it, so it is counted again before a start is refused.
ALTER TABLE heads ADD COLUMN pending BIGINT NOT NULL DEFAULT 0;
UPDATE heads SET pending = (SELECT COUNT(*) FROM runs WHERE runs.workspace = heads.workspace AND
    runs.status = 'Pending');

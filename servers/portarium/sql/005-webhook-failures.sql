-- The last delivery that failed: when, and why.
ALTER TABLE webhooks ADD COLUMN failed_at BIGINT;
ALTER TABLE webhooks ADD COLUMN failure TEXT;

-- Evidence is appended, and never changed or deleted.
CREATE TRIGGER evidence_is_not_changed BEFORE UPDATE ON evidence
BEGIN
    SELECT RAISE(ABORT, 'evidence is never changed');
END;

CREATE TRIGGER evidence_is_not_deleted BEFORE DELETE ON evidence
BEGIN
    SELECT RAISE(ABORT, 'evidence is never deleted');
END;

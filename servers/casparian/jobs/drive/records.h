/*
 * records.h - the rows of the state that a commit makes: outputs, materializations, summaries.
 */
#ifndef CASPARIAN_JOBS_DRIVE_RECORDS_H
#define CASPARIAN_JOBS_DRIVE_RECORDS_H

#include "jobs/drive/result.h"

/* Copy what a commit will write into the arena of the job. */
mcp_status casparian_records_copy(const casparian_record **out, size_t *count,
                                  casparian_drive *self, const casparian_commit *commit,
                                  mcp_error *err);

/* Store what a run is about to commit: the outputs, which do not count yet, the materializations
 * and the result. */
mcp_status casparian_records_store(casparian_drive *self, db_session *session,
                                   const casparian_record *records, size_t count,
                                   const casparian_results *results, mcp_error *err);

/* The commit has happened: the outputs count, with an event for each. */
mcp_status casparian_records_confirm(db_session *session, int64_t job, mcp_error *err);

/* The hashes of the manifests of its folders, at most `most`, in the order of the outputs. */
mcp_status casparian_records_manifests(const char **out, size_t most, db_session *session,
                                       int64_t job, mcp_arena *arena, mcp_error *err);

/* It has not: they go, with the intent and the result. */
mcp_status casparian_records_undo(db_session *session, int64_t job, mcp_error *err);

/* The figures of quarantine of a job that has ended. */
mcp_status casparian_records_summary(casparian_drive *self, db_session *session, mcp_error *err);

#endif

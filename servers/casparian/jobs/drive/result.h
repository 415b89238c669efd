/*
 * result.h - the result of a job, and its figures for lists and metrics.
 */
#ifndef CASPARIAN_JOBS_DRIVE_RESULT_H
#define CASPARIAN_JOBS_DRIVE_RESULT_H

#include "jobs/drive/drive.h"
#include "sinks/commit.h"

/* What a commit writes, copied from it. */
typedef struct casparian_record {
    casparian_output *output;
    bool is_quarantine;
    const char *format, *location, *table, *protocol_hash, *target_key;
    const char *sink_uri, *sink_mode, *manifest_sha256;
    const char *sha256; /* NULL: of rows in a database */
    int64_t rows, bytes;
} casparian_record;

/* The texts of a job's end. Free them with casparian_results_free. */
typedef struct casparian_results {
    casparian_text result, outputs, metrics, progress;
    int64_t rows, bytes_written;
} casparian_results;

/*
 * Write the result as casparian_job_status shows it.
 *
 * records: of a run that commits; NULL: nothing was written.
 */
mcp_status casparian_results_make(casparian_results *out, casparian_drive *self,
                                  const casparian_record *records, size_t count, mcp_error *err);

void casparian_results_free(casparian_results *self);

#endif

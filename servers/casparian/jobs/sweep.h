/**
 * sweep.h - what the passing of time asks for: jobs, requests and proposals that are old go.
 */
#ifndef CASPARIAN_JOBS_SWEEP_H
#define CASPARIAN_JOBS_SWEEP_H

#include "jobs/store.h"

/** What a sweep has done. */
typedef struct casparian_swept {
    int64_t jobs;       /* deleted */
    int64_t expired;    /* requests that became so */
    int64_t approvals;  /* deleted */
    int64_t ephemerals; /* deleted */
} casparian_swept;

/**
 * Delete jobs that ended `jobs.ttl_hours` ago, with their events and files; one that an approval
 * refers to stays, without those, until the approval goes. Expire requests that are overdue. Delete
 * requests that were decided `approvals.retention_days` ago, with their lists of files. Delete
 * proposed schemas that have expired. Delete logs of plugins that are as old as those jobs, and not
 * of a younger one. What jobs have committed stays: outputs, materializations and summaries of
 * quarantine.
 *
 * A runner does this when it starts and every ten minutes.
 *
 * @param out may be NULL
 */
mcp_status casparian_sweep(casparian_store *store, casparian_swept *out, mcp_error *err);

#endif

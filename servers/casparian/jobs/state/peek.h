/*
 * peek.h - what there is to do for a runner, found out by reading alone: a commit of a runner wakes
 * those of other processes, so one that looked by writing would wake them for nothing, and they it.
 */
#ifndef CASPARIAN_JOBS_STATE_PEEK_H
#define CASPARIAN_JOBS_STATE_PEEK_H

#include "jobs/state/claim.h"

typedef struct casparian_peek {
    bool can_claim;   /* a job is queued, and fewer run than may */
    bool has_queued;  /* a job is queued */
    bool has_expired; /* a lease has ended, or lasts longer than one may */
    bool has_stalled; /* a job has become stalled, and no event says so */
} casparian_peek;

mcp_status casparian_peek_read(casparian_peek *out, casparian_store *store, mcp_error *err);

/* Whether a claim is still held, and whether somebody has asked to cancel its job. */
mcp_status casparian_peek_claim(bool *is_held, bool *is_cancelled, casparian_store *store,
                                const casparian_claim *claim, mcp_error *err);

/* A runner is alive, or has ended. */
mcp_status casparian_runner_note(casparian_store *store, const char *runner, mcp_error *err);
mcp_status casparian_runner_forget(casparian_store *store, const char *runner, mcp_error *err);

#endif

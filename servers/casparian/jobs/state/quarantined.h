/**
 * quarantined.h - what was invalid in the jobs so far, for people and assistants that look for a
 * pattern.
 *
 * A job stores a summary of each output when it ends (cf_quarantine_summary). Samples in it are
 * redacted by the job's policy.
 */
#ifndef CASPARIAN_JOBS_STATE_QUARANTINED_H
#define CASPARIAN_JOBS_STATE_QUARANTINED_H

#include "jobs/store.h"

/** How many summaries are looked at, and how many points a trend has. */
#define CASPARIAN_QUARANTINED_MAX 10000
#define CASPARIAN_TREND_MAX 10

/** Which summaries; NULL and 0: all. */
typedef struct casparian_quarantined_filter {
    int64_t job;
    const char *plugin, *output;
    int64_t since_ms; /* wall clock */
} casparian_quarantined_filter;

/** The summary of an output of a job. In the arena of its reader. */
typedef struct casparian_quarantined {
    int64_t job;
    const char *job_type, *plugin, *version, *output;
    int64_t rows_emitted, rows_quarantined;
    const mcp_json *violations;    /* ViolationContexts; NULL: none */
    const mcp_json *parser_errors; /* {"count", "samples"}; NULL: none */
    const char *location;          /* of the committed quarantine table; NULL: none */
    int64_t created_ms;            /* wall clock */
} casparian_quarantined;

/**
 * Read summaries, newest job first.
 *
 * @param out in the arena
 * @return MCP_OK, also for none; statuses of db.h
 */
mcp_status casparian_quarantined_read(const casparian_quarantined **out, size_t *count,
                                      casparian_store *store, mcp_arena *arena,
                                      const casparian_quarantined_filter *filter, mcp_error *err);

#endif

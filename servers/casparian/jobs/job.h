/**
 * job.h - jobs: asynchronous backtests and runs, each with a state, progress, events and a result.
 *
 *     queued -> running -> completed | failed | cancelled          queued -> cancelled
 *
 * The last three are final. A runner that ends or dies gives its job back: running -> queued. Every
 * transition is one guarded UPDATE, so of two that race one happens, and the other fails. Whether a
 * job is stalled is derived when it is read: it is running, and has made no progress for
 * `jobs.stall_ms`.
 */
#ifndef CASPARIAN_JOBS_JOB_H
#define CASPARIAN_JOBS_JOB_H

#include "jobs/spec.h"
#include "jobs/store.h"

/* clang-format off */
#define CASPARIAN_JOB_STATE_MAP(X) \
    X(QUEUED, "queued") X(RUNNING, "running") X(COMPLETED, "completed") X(FAILED, "failed") \
    X(CANCELLED, "cancelled")
/* clang-format on */

/** The stored states. */
typedef enum casparian_job_state {
#define CASPARIAN_JOB_STATE_VALUE(name, text) CASPARIAN_JOB_##name,
    CASPARIAN_JOB_STATE_MAP(CASPARIAN_JOB_STATE_VALUE)
#undef CASPARIAN_JOB_STATE_VALUE
        CASPARIAN_JOB_STATES
} casparian_job_state;

/** "queued", and so on. */
const char *casparian_job_state_text(casparian_job_state state);

/** Whether a state may follow another. */
bool casparian_job_may_become(casparian_job_state from, casparian_job_state to);

typedef enum casparian_job_type { CASPARIAN_JOB_BACKTEST, CASPARIAN_JOB_RUN } casparian_job_type;

/** "backtest" or "run". */
const char *casparian_job_type_text(casparian_job_type type);

/** Which plugin: as it was asked for, and what it was resolved to. */
typedef struct casparian_job_plugin {
    const char *name, *version;
    const char *path;          /* of a plugin in development; NULL: a registered one */
    const char *artifact_hash; /* when it was resolved */
    const mcp_json *ref;       /* {"plugin", "version"?} or {"path"}, as the caller gave it */
} casparian_job_plugin;

/** What a job shall do. */
typedef struct casparian_job_request {
    casparian_job_type type;
    casparian_job_plugin plugin;
    const char *input_dir; /* absolute; a file is one, too */
    const char *sink_uri;  /* of a run, normal and absolute; NULL: a backtest */
    const casparian_spec *spec;
    int64_t timeout_ms; /* 0, or more than the setting: the setting */
    int64_t priority;   /* higher ones are claimed first */
    /* The inputs of a run, frozen; NULL: the driver enumerates them. */
    const casparian_job_file *files;
    size_t file_count;
} casparian_job_request;

/**
 * Insert a job into the queue.
 *
 * A direct run of the shell is created here, too; a run that MCP asks for is created by its
 * approval (jobs/approval.h).
 *
 * @param id       of the job
 * @param position in the queue, from 1: how many jobs were to be claimed before it, and itself; may
 *                 be NULL
 * @return MCP_OK; MCP_E_LIMIT: `jobs.max_queued` jobs are queued (the tools' `queue_full`);
 *         statuses of db.h
 */
mcp_status casparian_job_create(int64_t *id, int64_t *position, casparian_store *store,
                                const casparian_job_request *request, mcp_error *err);

/** A job as it is stored. Everything in the arena of its reader; texts are NULL and times 0 where
 *  there is none. */
typedef struct casparian_job {
    int64_t id;
    casparian_job_type type;
    casparian_job_state state;
    bool is_stalled; /* derived */
    bool is_cancel_requested;
    const char *plugin_name, *plugin_version, *plugin_path, *artifact_hash;
    const mcp_json *plugin_ref;
    const char *input_dir, *sink_uri, *approval_id;
    const mcp_json *spec;
    int64_t created_ms, started_ms, finished_ms; /* wall clock */
    int64_t timeout_ms;
    int64_t restart_count;
    const char *error_code, *error_message;
    const mcp_json *progress; /* NULL: it has not started */
    int64_t progress_ms;      /* wall clock, of the last progress */
    const mcp_json *result;   /* of a completed job; of a failed one what there was */
    const char *runner;       /* NULL: nobody works on it */
} casparian_job;

/** Read a job id: one to eighteen digits, without a leading zero. @return false: it is none */
bool casparian_job_id_read(int64_t *out, const char *text);

/** @return MCP_OK; MCP_E_NOT_FOUND: there is no such job; statuses of db.h */
mcp_status casparian_job_read(casparian_job *out, casparian_store *store, mcp_arena *arena,
                              int64_t id, mcp_error *err);

/**
 * Write a job as casparian_job_status answers it: job_id, type, status ("stalled" where it is
 * derived), plugin_ref, times, progress, and result or error; without events.
 *
 * @param out an object is open; its members are written, and it stays open
 */
void casparian_job_write(mcp_json_writer *out, const casparian_job *job);

/** Which jobs to list. */
typedef struct casparian_job_filter {
    const char *status; /* NULL, "all", "stalled" or a stored state; "running" has stalled ones */
    int64_t limit;      /* 0: 20, at most 1,000 */
    const char *plugin; /* its name; NULL: any */
} casparian_job_filter;

/**
 * List jobs, newest first.
 *
 * @return MCP_OK; MCP_E_PARAMS: no such status; statuses of db.h
 */
mcp_status casparian_job_list(const casparian_job **out, size_t *count, casparian_store *store,
                              mcp_arena *arena, const casparian_job_filter *filter, mcp_error *err);

/** Write a job as an item of casparian_job_list, an object of its own. */
void casparian_job_write_item(mcp_json_writer *out, const casparian_job *job);

/** How a cancellation ended. */
typedef enum casparian_cancelled {
    CASPARIAN_CANCEL_DONE,  /* cancelled, or its runner will cancel it */
    CASPARIAN_CANCEL_LATE,  /* it had ended, or its commit is under way */
    CASPARIAN_CANCEL_ABSENT /* there is no such job */
} casparian_cancelled;

/**
 * Cancel a job: a queued one at once; the runner of a running one ends its guest and
 * rolls back.
 *
 * @param by goes into the event and the audit: "tool:<client>", "cli:<user>@<host>"
 */
mcp_status casparian_job_cancel(casparian_cancelled *out, casparian_store *store, int64_t id,
                                const char *by, mcp_error *err);

/** An event. In the arena of its reader. */
typedef struct casparian_event {
    int64_t id; /* 1, 2, 3, ... within the job */
    const char *type;
    int64_t timestamp_ms; /* wall clock */
    const mcp_json *payload;
} casparian_event;

/**
 * Read the events after a number, oldest first.
 *
 * @param limit at most 1,000
 * @return MCP_OK, also for none; statuses of db.h
 */
mcp_status casparian_job_events(const casparian_event **out, size_t *count, casparian_store *store,
                                mcp_arena *arena, int64_t job, int64_t after, size_t limit,
                                mcp_error *err);

/** What became of an input file. In the arena of its reader. */
typedef struct casparian_job_outcome {
    casparian_job_file file;
    const char *status;             /* "pending", "ok", "failed", "skipped" or "changed" */
    const char *sha256;             /* NULL: it was not read */
    int64_t rows, rows_quarantined; /* -1: unknown */
    const char *error_kind, *error_message;
    int64_t duration_ms;
} casparian_job_outcome;

/**
 * Read the files of a job, by path.
 *
 * @param after the path of the last one of the page before; NULL: from the first
 */
mcp_status casparian_job_files(const casparian_job_outcome **out, size_t *count,
                               casparian_store *store, mcp_arena *arena, int64_t job,
                               const char *after, size_t limit, mcp_error *err);

#endif

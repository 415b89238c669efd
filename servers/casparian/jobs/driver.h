/**
 * driver.h - runs plugins over files: the work of a job, and previews.
 *
 * A file is opened, hashed while it is parsed, and its rows are held against the schemas of their
 * outputs; a backtest keeps the figures, a run also gives the rows to a sink, and at the end all
 * outputs are committed or none. Preview goes the same way with no store and no sink.
 *
 * A caller that starts a job first has it prepared: the plugin is resolved and refused if it is not
 * trusted, the schemas that count are found, and the files of a run are listed.
 *
 *     casparian_prepare_request how = { .plugin_ref = ref, .input = folder, .spec = &spec };
 *     st = casparian_driver_prepare(&prepared, &problem, driver, arena, &how, err);
 *     if (st == MCP_OK)
 *         st = casparian_job_create(&id, NULL, store,
 *                                   &(casparian_job_request){ .type = CASPARIAN_JOB_BACKTEST,
 *                                                             .plugin = prepared.job_plugin, ... },
 *                                   err);
 *
 * A driver may be used by any number of threads.
 */
#ifndef CASPARIAN_JOBS_DRIVER_H
#define CASPARIAN_JOBS_DRIVER_H

#include <stdatomic.h>

#include "jobs/approval.h"
#include "jobs/drive/options.h"
#include "plugins/guest.h"
#include "sinks/uri.h"

/** @param out yours, free it with casparian_driver_free. @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT,
 *  MCP_E_IO: the system has no thread */
mcp_status casparian_driver_new(casparian_driver **out, const casparian_driver_options *options,
                                mcp_error *err);

/** No job and no preview may be running. NULL is fine. */
void casparian_driver_free(casparian_driver *self);

/* ---- before a job ---------------------------------------------------------------------------- */

/** What is to be prepared. */
typedef struct casparian_prepare_request {
    const mcp_json *plugin_ref;
    const char *plugin_path; /* of a reference by path: absolute, without links, checked against the
                              * allowed roots; else NULL */
    const char *input;       /* a folder or a file, absolute, without links, checked; NULL: none */
    const casparian_spec *spec;     /* NULL: nothing is asked for */
    const casparian_sink_uri *sink; /* of a run (with routes, of its first output); NULL: a backtest
                                     * or a preview */
    bool lists_files;               /* a run's: they are frozen now */
} casparian_prepare_request;

/** What a job would work with. In the arena. */
typedef struct casparian_prepared {
    casparian_plugin plugin;
    casparian_job_plugin job_plugin;    /* the same, for a job or a request */
    const casparian_effective *schemas; /* of the outputs that have one before the run */
    size_t schema_count;
    casparian_quarantine quarantine; /* of a run */
    const casparian_job_file *files; /* NULL unless they were listed */
    size_t file_count;
    int64_t total_bytes;
    int64_t estimated_rows; /* of a run; -1: unknown */
} casparian_prepared;

/**
 * Resolve a plugin and all that a job needs to know before it starts.
 *
 * @param problem on a failure that is the plugin's; `code` is NULL otherwise
 * @return MCP_OK; statuses of casparian_registry_resolve and _verify (see `problem`);
 *         MCP_E_NOT_FOUND: the ephemeral schema, or the input; MCP_E_LIMIT: more than
 *         CASPARIAN_MAX_FILES files; statuses of db.h
 */
mcp_status casparian_driver_prepare(casparian_prepared *out, casparian_plugin_problem *problem,
                                    casparian_driver *self, mcp_arena *arena,
                                    const casparian_prepare_request *request, mcp_error *err);

/** What a run would do with a file. */
typedef enum casparian_foreseen {
    CASPARIAN_FORESEEN_NEW,  /* no job and no scan has seen it */
    CASPARIAN_FORESEEN_OPEN, /* it is not done, or was changed since */
    CASPARIAN_FORESEEN_DONE, /* it would be skipped */
} casparian_foreseen;

/**
 * Foresee what a run would do with the files that were listed. Nothing is written.
 *
 * @param out  one a file of `prepared`, in the arena
 * @param sink of the run: of its first output
 * @param spec has its routes, and whether it is forced
 * @return MCP_OK; MCP_E_NOMEM; statuses of db.h
 */
mcp_status casparian_driver_foresee(const casparian_foreseen **out, casparian_driver *self,
                                    mcp_arena *arena, const casparian_prepared *prepared,
                                    const casparian_sink_uri *sink, const casparian_spec *spec,
                                    mcp_error *err);

/* ---- previews -------------------------------------------------------------------------------- */

/** A preview. */
typedef struct casparian_preview_request {
    const casparian_plugin *plugin; /* prepared */
    const casparian_effective *schemas;
    size_t schema_count;
    const char *const *files; /* absolute, without links, checked; at most 10 */
    size_t file_count;
    int64_t limit;     /* rows of each output that are shown; 0: 100, at most 1,000 */
    int64_t budget_ms; /* for the whole call; 0: 20,000 */
    const casparian_redaction *redaction;
    size_t *failed;                     /* receives how many files failed; NULL */
    const mcp_buf *warnings;            /* of the caller, as JSON strings with commas; NULL */
    casparian_should_stop *should_stop; /* NULL: never */
    void *data;
} casparian_preview_request;

/**
 * Parse some files and write what came out, as casparian_preview answers: the members `outputs`,
 * `errors` and, where there are some, `warnings`, into the object that is open. A file that fails
 * is an error of the answer.
 * The plugin's process stays for a minute, for the next preview of the same files.
 *
 * @return MCP_OK; MCP_E_STOPPED: `should_stop`; MCP_E_UNSUPPORTED: the sandbox is required and the
 *         system does not have it; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status casparian_driver_preview(mcp_json_writer *out, casparian_driver *self, mcp_arena *arena,
                                    const casparian_preview_request *request, mcp_error *err);

/* ---- a job ----------------------------------------------------------------------------------- */

/** What a runner has of a job (jobs/state/claim.h). */
typedef struct casparian_claim casparian_claim;

/**
 * Run a claimed job to its end, and end the claim: completed, failed, cancelled, or back in the
 * queue. What goes wrong with the job is its result.
 *
 * @param stop may become another value than CASPARIAN_STOP_NONE at any time
 * @return MCP_OK; MCP_E_STOPPED: another runner has the job; the state could not be written, and
 *         the lease will end: statuses of db.h
 */
mcp_status casparian_driver_run(casparian_driver *self, const casparian_claim *claim,
                                const atomic_int *stop, mcp_error *err);

/**
 * Decide about a job whose runner has disappeared (casparian_claim_take_expired): a commit that was
 * under way is made whole or undone, and the claim ends.
 */
mcp_status casparian_driver_recover(casparian_driver *self, const casparian_claim *claim,
                                    mcp_error *err);

#endif

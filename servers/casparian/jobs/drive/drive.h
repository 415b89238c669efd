/*
 * drive.h - one job on its way: what the files of this folder share.
 *
 * The thread that runs the job owns all of it. Only `stop` is written by others.
 */
#ifndef CASPARIAN_JOBS_DRIVE_DRIVE_H
#define CASPARIAN_JOBS_DRIVE_DRIVE_H

#include <stdatomic.h>

#include "check/check.h"
#include "check/infer.h"
#include "jobs/approval.h"
#include "jobs/drive/options.h"
#include "jobs/state/claim.h"
#include "jobs/state/rows.h"
#include "plugins/guest.h"
#include "sinks/sink.h"

/* Of a job's arena: names, schemas, and what became of each of 100,000 files. */
#define CASPARIAN_DRIVE_ARENA_MAX ((size_t)512 << 20)

/* Of the rows of one batch. */
#define CASPARIAN_BATCH_ARENA_MAX ((size_t)1 << 30)

/* What an error of a file is cut at. */
#define CASPARIAN_FILE_ERROR_MAX 500

struct casparian_driver {
    casparian_driver_options options;
    const guard *roots;
    guard *anywhere; /* the roots of a driver without roots */
    const char *program;
    struct casparian_warm *warm; /* guests of previews */
};

/* A sink of a run. */
typedef struct casparian_destination {
    casparian_sink_uri uri;
    int fd; /* its folder; -1: not open */
    casparian_sink_uri
        quarantine;    /* of its quarantine tables, where they have a folder of theirs */
    int quarantine_fd; /* -1: not open */
} casparian_destination;

/* An input file of a job, and what became of it. */
typedef struct casparian_input {
    casparian_job_file file;
    const char *relative; /* to the input folder, for patterns and messages */
    int64_t file_id;      /* in scout_files; 0: it is not registered */
    const char *status;   /* "pending", then as cf_api_job_files has it */
    const char *sha256;
    int64_t rows, rows_quarantined;
    const char *kind, *category, *error; /* of a failed one */
    int64_t duration_ms;
    struct casparian_input_rows *outputs; /* rows of each output of a run; NULL: none */
    bool is_stored;                       /* the state has what became of it */
    bool is_high_failure;                 /* it has failed in the last backtests */
} casparian_input;

/* Rows of a file in an output. */
typedef struct casparian_input_rows {
    struct casparian_input_rows *next;
    struct casparian_output *output;
    int64_t valid, invalid;
} casparian_input_rows;

/* What a parser said of rows that it called bad. */
typedef struct casparian_said {
    casparian_tally tally;
    casparian_tally_store store;
} casparian_said;

/* An output of the plugin. */
typedef struct casparian_output {
    struct casparian_output *next; /* in the order of first appearance */
    const char *name;
    const casparian_definition *schema; /* NULL: none yet */
    casparian_schema_source source;
    casparian_check *check; /* where there is a schema */
    casparian_infer *infer; /* where there is none */
    bool has_emitted;
    casparian_check_counts before; /* when the present file began */
    int64_t rows, file_rows;       /* without a schema: of files that were kept, of the present */
    casparian_said errors, file_errors; /* and what the parser said of them */
    casparian_sink_output *sink, *quarantine;
} casparian_output;

/* The rows of outputs, of a job or of a preview. */
typedef struct casparian_outputs {
    mcp_arena *arena;
    const casparian_effective *schemas;
    size_t schema_count;
    const casparian_redaction *redaction;
    casparian_output *first;
    size_t count;
    struct casparian_drive *drive;  /* of a run, which has the sinks; NULL */
    casparian_sink *sink;           /* of a run; NULL */
    casparian_sink_file *sink_file; /* of the present file */
    bool is_sink_used;              /* it may have rows of the only file before the file is done */
    bool has_sink_failed;           /* the last failure is of the sink */
    bool needs_schemas;             /* a run: an output without a schema has rows */
    bool wants_schemas;             /* the present pass is for their inference alone */
    const char *path;               /* of the present file; NULL: none */
} casparian_outputs;

/* Events and outcomes that the state does not have yet. */
typedef struct casparian_journal {
    struct casparian_pending *first, **last;
    size_t pending;
    int64_t flushed_ms, progress_ms; /* monotonic; of the last flush, and the last progress event */
    double rate;                     /* rows a second, averaged */
    int64_t rate_rows, rate_ms;
    bool has_advanced;
} casparian_journal;

typedef struct casparian_drive {
    casparian_driver *driver;
    casparian_store *store;
    const casparian_settings *settings;
    const casparian_claim *claim;
    const atomic_int *stop;
    mcp_arena *arena;
    casparian_job job;
    casparian_spec spec;
    casparian_approval approval; /* id is NULL: there is none */
    casparian_plugin plugin;
    casparian_redaction redaction;
    casparian_quarantine policy;
    casparian_sink_uri uri;              /* of the first output */
    casparian_destination *destinations; /* one a route, or one */
    size_t destination_count;
    casparian_guest *guest;
    char sandbox[CASPARIAN_SANDBOX_WORDS_SIZE];
    casparian_outputs outputs;
    casparian_input *inputs;
    size_t input_count;
    int64_t bytes_total;
    const char *phase;
    int64_t started_ms, deadline_ms; /* monotonic */
    const casparian_input *current;
    struct casparian_hasher *hasher; /* of the present file; NULL */
    int log_fd;                      /* of the plugin's log; -1 */
    int64_t log_bytes;
    size_t violation_events;
    bool has_state_failed; /* the last failure is of the state */
    int64_t current_bytes;
    size_t processed, passed, failed, skipped;
    uint64_t repaired;          /* texts of all files that were not UTF-8 */
    const char *first_repaired; /* of the first of these files, its relative path */
    int64_t bytes_read;
    size_t high_tried, high_failed; /* of fail_fast */
    casparian_journal journal;
    mcp_buf warnings;       /* texts, each followed by NUL */
    const char *error_code; /* why the job fails; NULL: it does not */
    char error[CASPARIAN_FILE_ERROR_MAX + 240];
} casparian_drive;

/* The job fails with that code, unless it fails already. Returns MCP_E_DENIED, so that the road
 * ends. */
mcp_status casparian_drive_fail(casparian_drive *self, const char *code, const char *format, ...)
    MCP_PRINTF(3, 4);

/* A sentence for `warnings` of the result; each once. */
void casparian_drive_warn(casparian_drive *self, const char *format, ...) MCP_PRINTF(2, 3);

/* Why the job should stop now, or a timeout. */
bool casparian_drive_should_stop(void *data);

#endif

/**
 * outcome.h - what a guest is given and what comes of a file: options and limits, files, events,
 * outcomes.
 *
 * plugins/guest.h uses them all.
 */
#ifndef CASPARIAN_PLUGINS_OUTCOME_H
#define CASPARIAN_PLUGINS_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/batch.h"
#include "mcp/error.h"
#include "plugins/plugin.h"

/**
 * What was wrong with a file. One row: name, the word of results and logs.
 *
 * - IMPORT_ERROR: the module cannot be imported.
 * - PARSE_ERROR: the plugin raised an exception, or exited with 1 or 2.
 * - UNSUPPORTED_VALUE: a cell of a type that has no form. RESERVED_COLUMN: a column whose name is
 *   casparian's. PROTOCOL_ERROR: what it sent is not the protocol. ARROW_NOT_SUPPORTED: it sends
 *   Arrow IPC.
 * - CRASHED: it ended without an answer.
 * - START_TIMEOUT: it did not begin in time. IDLE_TIMEOUT: nothing was heard of it. FILE_TIMEOUT:
 *   the file took too long.
 * - OUTPUT_LIMIT: too many bytes of rows, or of files in its scratch folder.
 * - SANDBOX_FAILED: it could not be isolated, so it did not run.
 */
#define CASPARIAN_FAILURE_MAP(X)                                                                   \
    X(NONE, "none")                                                                                \
    X(IMPORT_ERROR, "import_error")                                                                \
    X(PARSE_ERROR, "parse_error")                                                                  \
    X(UNSUPPORTED_VALUE, "unsupported_value")                                                      \
    X(RESERVED_COLUMN, "reserved_column")                                                          \
    X(PROTOCOL_ERROR, "protocol_error")                                                            \
    X(ARROW_NOT_SUPPORTED, "arrow_not_supported")                                                  \
    X(CRASHED, "crashed")                                                                          \
    X(START_TIMEOUT, "start_timeout")                                                              \
    X(IDLE_TIMEOUT, "idle_timeout")                                                                \
    X(FILE_TIMEOUT, "file_timeout")                                                                \
    X(MEMORY_LIMIT, "memory_limit")                                                                \
    X(OUTPUT_LIMIT, "output_limit")                                                                \
    X(SANDBOX_FAILED, "sandbox_failed")                                                            \
    X(CANCELLED, "cancelled")

typedef enum casparian_failure {
#define CASPARIAN_FAILURE_VALUE(name, word) CASPARIAN_FAILURE_##name,
    CASPARIAN_FAILURE_MAP(CASPARIAN_FAILURE_VALUE)
#undef CASPARIAN_FAILURE_VALUE
} casparian_failure;

/** The word of a failure. */
const char *casparian_failure_text(casparian_failure failure);

/** How much isolation a guest has to have. */
typedef enum casparian_sandbox {
    CASPARIAN_SANDBOX_BEST_EFFORT, /* what the system has */
    CASPARIAN_SANDBOX_REQUIRED,    /* refused where processes, sockets or files are not denied */
    CASPARIAN_SANDBOX_OFF          /* limits only */
} casparian_sandbox;

/** Room for the words of a sandbox: "pid-namespace+user+landlock+...". */
#define CASPARIAN_SANDBOX_WORDS_SIZE 96

/** Limits of a guest; 0 is the default in the comment. */
typedef struct casparian_guest_limits {
    uint64_t memory_bytes;    /* address space of each process, where the plugin's settings have no
                                 limit of their own; 2 GiB */
    uint64_t output_bytes;    /* rows of one file, as they were sent; 10 GiB */
    uint64_t scratch_bytes;   /* files that it makes; 64 MiB */
    uint64_t log_bytes;       /* log lines of one file; 10 MiB, what follows is dropped */
    int64_t start_timeout_ms; /* until the module is imported; 30 s. A native hello: 5 s at most */
    int64_t idle_timeout_ms;  /* without a frame; 300 s */
    int64_t file_timeout_ms;  /* 600 s */
    uint32_t cpu_s;           /* processor time of each process; 1,860 s */
} casparian_guest_limits;

/** How to run a plugin. Copied, with all strings. */
typedef struct casparian_guest_options {
    const char *job_id;        /* NULL: "0" */
    const char *scratch_dir;   /* absolute: the guest makes its own folder there, and removes it */
    const char *const *inputs; /* absolute: folders or files. Every file that is parsed must be one
                                  of them or below one. A Python module may read them while it is
                                  imported; during a file the plugin reads only that file. */
    size_t input_count;
    const char *const *env; /* "NAME=value", after those of the plugin's settings */
    size_t env_count;
    casparian_sandbox sandbox;
    casparian_guest_limits limits;
    bool copies_plugin;      /* run a copy, which has the hash of the plugin, where others can write
                                the plugin itself: one in development */
    bool checks_schema_hash; /* a native plugin must name the hashes of plugin->schemas; false:
                                it may (backtests, previews) */
} casparian_guest_options;

/** Whether to give up a file. Called at least every 100 ms, on the thread of the caller. */
typedef bool casparian_should_stop(void *data);

/** A file. Borrowed for the call. */
typedef struct casparian_guest_file {
    const char *path; /* absolute; the argument of the plugin */
    int fd;           /* open for reading: the only file that the plugin can open. The caller's */
    const char *file_id; /* for CF_FILE_ID; NULL: "0" */
    int64_t row_limit;   /* stop after so many rows of each output; 0: all */
    int64_t until_ms;    /* of mcp_clock_mono_ms: CASPARIAN_FAILURE_FILE_TIMEOUT then; 0: never */
    casparian_should_stop *should_stop; /* NULL: never */
    void *data;
} casparian_guest_file;

/** Where a line of the log is from, by the numbers of the protocol. */
typedef enum casparian_log_level {
    CASPARIAN_LOG_STDOUT,
    CASPARIAN_LOG_STDERR,
    CASPARIAN_LOG_DEBUG,
    CASPARIAN_LOG_INFO,
    CASPARIAN_LOG_WARN,
    CASPARIAN_LOG_ERROR
} casparian_log_level;

/**
 * What a file gives. Every function may be NULL and is called on the thread of
 * casparian_guest_parse; pointers are borrowed. A status other than MCP_OK gives the file up:
 * casparian_guest_parse kills the guest's process and returns it.
 */
typedef struct casparian_guest_events {
    /** An output was named, perhaps one without rows. Once for each output, before its rows. */
    mcp_status (*output)(void *data, const char *output, mcp_error *err);
    /** Rows. The batch is freed after the return. */
    mcp_status (*batch)(void *data, const char *output, const casparian_batch *batch,
                        mcp_error *err);
    /** A line or piece of text of the plugin, UTF-8, at most 64 KiB. */
    void (*log)(void *data, casparian_log_level level, const char *text, size_t length);
    /** How far a native plugin is; -1: it does not say. */
    void (*progress)(void *data, int64_t bytes_done, int64_t bytes_total, int64_t rows);
    void *data;
} casparian_guest_events;

/** What became of a file. Filled on MCP_OK, and as far as known on errors. */
typedef struct casparian_guest_outcome {
    casparian_failure failure; /* NONE: the file was read to its end */
    bool is_retryable;         /* it may go better next time */
    int signal, exit_code;     /* of CRASHED: what the process ended with; 0 and -1: not known */
    char error[512];           /* one line: what happened; "" without a failure */
    char traceback[4096];      /* the last frames; "" where there is none */
    const char *category;      /* of the failure (plugins, 6.4): "parse_error", "unknown", ... */
    uint64_t rows, bytes;      /* received, of all outputs */
    uint64_t repaired;         /* texts that were not UTF-8: U+FFFD is in the place of bytes */
    uint64_t log_bytes;        /* of log lines, with those that were dropped */
    bool stopped_at_row_limit; /* an output had more rows than `row_limit` */
    char sandbox[CASPARIAN_SANDBOX_WORDS_SIZE]; /* the protections that held; "none" */
} casparian_guest_outcome;

/**
 * The category of a failed file by the words of its message, as reports have it: "type_mismatch",
 * "null_not_allowed", "format_mismatch", "parse_error", "schema_violation", "file_not_found",
 * "unknown". Pure.
 */
const char *casparian_failure_category(casparian_failure failure, const char *message);

#endif

/**
 * approval.h - requests that a person decides once: to run a plugin, or to promote a schema.
 *
 *     pending -> approved | rejected | expired, all final
 *
 * A request binds exactly what will be done, in a snapshot whose SHA-256 is shown and logged: the
 * plugin's artifact, the effective schemas, the sink, the quarantine policy and each input file; or
 * the generated code and where it goes. A run does that and nothing else: a changed plugin fails
 * the job (`approval_stale`), a changed file fails alone, new files are not read.
 *
 * The command line, elicitation and the tool decide by one function, casparian_approval_decide.
 * Every read and every decision first expires a request whose time is over, in its transaction.
 */
#ifndef CASPARIAN_JOBS_APPROVAL_H
#define CASPARIAN_JOBS_APPROVAL_H

#include "jobs/job.h"
#include "jobs/promote.h"

/** Room for an id (UUID version 4) with its NUL. */
#define CASPARIAN_APPROVAL_ID_SIZE 37
#define CASPARIAN_REASON_MAX 500

/** Whether a text is an id: a UUID in lower case. */
bool casparian_approval_id_is_valid(const char *text);

/** Where an effective schema came from. */
typedef enum casparian_schema_source {
    CASPARIAN_SCHEMA_REQUEST,
    CASPARIAN_SCHEMA_EPHEMERAL,
    CASPARIAN_SCHEMA_CONTRACT,
    CASPARIAN_SCHEMA_DECLARED,
    CASPARIAN_SCHEMA_INFERRED
} casparian_schema_source;

/** "request", "ephemeral", "contract", "declared" or "inferred". */
const char *casparian_schema_source_text(casparian_schema_source source);

/** The schema of an output that a job uses, and why it does. */
typedef struct casparian_effective {
    const casparian_definition *schema;
    casparian_schema_source source;
} casparian_effective;

/** A request to run a plugin. */
typedef struct casparian_run_request {
    casparian_job_plugin plugin;     /* resolved: artifact_hash is set */
    const char *input_dir;           /* absolute */
    const char *sink_uri;            /* normal and absolute */
    const char *target_path;         /* of the sink, for people */
    const casparian_job_file *files; /* frozen; sorted by path */
    size_t file_count;
    const casparian_effective *schemas; /* of the outputs that have one before the run */
    size_t schema_count;
    casparian_quarantine quarantine; /* casparian_quarantine_of_run */
    const casparian_spec *spec;
    const char *reason;       /* of the caller, for the person; NULL: none */
    const char *requested_by; /* client name and version; NULL: unknown */
    int64_t estimated_rows;   /* -1: unknown */
    int64_t timeout_ms;       /* of the job; 0: the setting */
} casparian_run_request;

/** A request to write generated code. */
typedef struct casparian_promote_request {
    const char *ephemeral_id;
    const char *output_path; /* absolute, checked against the allowed roots */
    const casparian_promotion *code;
    const char *requested_by; /* NULL: unknown */
} casparian_promote_request;

/** A request as it is stored. Everything in the arena of its reader; texts are NULL and times 0
 *  where there is none. */
typedef struct casparian_approval {
    const char *id;
    const char *status;      /* "pending", "approved", "rejected" or "expired" */
    const char *operation;   /* "run" or "schema_promote" */
    const mcp_json *details; /* operation_json */
    const mcp_json *summary; /* {description, file_count, estimated_rows?, target_path} */
    const mcp_json *snapshot;
    const char *snapshot_sha256;
    const char *requested_by;
    int64_t created_ms, expires_ms, decided_ms; /* wall clock */
    const char *decided_by, *rejection_reason;
    int64_t job;            /* 0: none */
    const mcp_json *result; /* of a promotion: {path, bytes, sha256}, or {error} */
} casparian_approval;

/**
 * Store a request to run.
 *
 * @param out   as it is stored
 * @return MCP_OK; MCP_E_PARAMS: the reason is too long; MCP_E_LIMIT: more than CASPARIAN_MAX_FILES
 *         files; statuses of db.h; statuses of guard_audit_write where the audit is required
 */
mcp_status casparian_approval_request_run(casparian_approval *out, casparian_store *store,
                                          mcp_arena *arena, const casparian_run_request *request,
                                          mcp_error *err);

/** Store a request to promote a schema. As above. */
mcp_status casparian_approval_request_promote(casparian_approval *out, casparian_store *store,
                                              mcp_arena *arena,
                                              const casparian_promote_request *request,
                                              mcp_error *err);

/** Read a request. @return MCP_OK; MCP_E_NOT_FOUND: there is none of that id; statuses of db.h */
mcp_status casparian_approval_read(casparian_approval *out, casparian_store *store,
                                   mcp_arena *arena, const char *id, mcp_error *err);

/**
 * List requests, newest first.
 *
 * @param status "pending", "approved", "rejected", "expired" or "all"
 * @param limit  at most 1,000
 * @return MCP_OK; MCP_E_PARAMS: no such status; statuses of db.h
 */
mcp_status casparian_approval_list(const casparian_approval **out, size_t *count,
                                   casparian_store *store, mcp_arena *arena, const char *status,
                                   size_t limit, mcp_error *err);

/** Store the result of promotions whose process was killed between the decision and the files.
 *  Reads of one do the same. @return as casparian_approval_read */
mcp_status casparian_approval_settle(casparian_store *store, mcp_error *err);

/** Expire what is overdue. @param count how many; may be NULL */
mcp_status casparian_approval_expire(int64_t *count, casparian_store *store, mcp_error *err);

/** The frozen files of a request, by path. As casparian_job_files. */
mcp_status casparian_approval_files(const casparian_job_outcome **out, size_t *count,
                                    casparian_store *store, mcp_arena *arena, const char *id,
                                    const char *after, size_t limit, mcp_error *err);

/** Write the members of casparian_approval_status into the object that is open: approval_id,
 *  status, operation, summary, job_id?, times, decided_by?, rejection_reason?, result?,
 *  approve_command (of a pending one). */
void casparian_approval_write(mcp_json_writer *out, const casparian_approval *approval);

/** Write a request as an item of casparian_approval_list, an object of its own. */
void casparian_approval_write_item(mcp_json_writer *out, const casparian_approval *approval);

/** How a decision ended. */
typedef enum casparian_decided {
    CASPARIAN_DECIDED_APPROVED, /* by this decision */
    CASPARIAN_DECIDED_REJECTED, /* by this decision */
    CASPARIAN_DECIDED_ALREADY_APPROVED,
    CASPARIAN_DECIDED_ALREADY_REJECTED,
    CASPARIAN_DECIDED_EXPIRED,
    CASPARIAN_DECIDED_ABSENT
} casparian_decided;

/** "approved", "rejected", "already_approved", "already_rejected", "expired" or "not_found". */
const char *casparian_decided_text(casparian_decided decided);

/**
 * Opens the folder that will get a promoted file, after it was checked against the allowed roots
 * again.
 *
 * @param path  absolute
 * @param fd    yours
 * @return MCP_OK; MCP_E_DENIED, MCP_E_NOT_FOUND: it may not be written, or is not there
 */
typedef mcp_status casparian_open_folder(int *fd, const char *path, void *data, mcp_error *err);

/** For messages: what was approved as a folder is none any more (guard_is_at). */
#define CASPARIAN_NOT_AS_APPROVED                                                                  \
    "is reached by a link since the request was made: it was approved as a folder"

/** A decision. */
typedef struct casparian_decision {
    const char *id;
    bool approves;
    const char *by;     /* "cli:<user>@<host>", "elicitation:<client>", "tool:<client>" */
    const char *reason; /* of a rejection; at most CASPARIAN_REASON_MAX bytes; NULL: none */
    const char *snapshot_sha256;        /* of what the decider was shown; NULL: not compared */
    casparian_open_folder *open_folder; /* of a promotion; NULL: the folder is opened as it is named
                                         * (a person decides in the shell) */
    void *data;                         /* passed to `open_folder` */
} casparian_decision;

/**
 * Decide a request. Of two decisions one happens. An approved run has its job in the same
 * transaction; an approved promotion is written afterwards, and `result` says how that ended.
 *
 * @param decided  how it ended
 * @param approval as it is now; undefined for CASPARIAN_DECIDED_ABSENT
 * @return MCP_OK, see `decided`; MCP_E_PARAMS: the reason is too long, or there is no `by`;
 *         MCP_E_LIMIT: the queue of jobs is full, the request is still pending; MCP_E_EXISTS: what
 *         is stored is not what the decider was shown; statuses of db.h; those of guard_audit_write
 *         where the audit is required, and nothing is decided then
 */
mcp_status casparian_approval_decide(casparian_decided *decided, casparian_approval *approval,
                                     casparian_store *store, mcp_arena *arena,
                                     const casparian_decision *decision, mcp_error *err);

#endif

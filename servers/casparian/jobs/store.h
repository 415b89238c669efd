/**
 * store.h - casparian's state: the database `<home>/state.sqlite`, and who hears of its changes.
 *
 * Any number of processes use one home at once: servers, workers, and commands of the shell. Every
 * change is one short transaction. A change of a job or an approval is announced after its commit
 * on CASPARIAN_CHANNEL, in this process at once, in others within 250 ms; payloads are the keys of
 * waits ("job/42", "approval/..."), or "queue" when there is a job to claim.
 *
 * A store may be used by any thread.
 */
#ifndef CASPARIAN_JOBS_STORE_H
#define CASPARIAN_JOBS_STORE_H

#include "db/db.h"
#include "guard/audit.h"
#include "jobs/settings.h"
#include "jobs/waits.h"
#include "mcp/arena.h"
#include "mcp/files.h"
#include "mcp/json.h"
#include "mcp/log.h"

#define CASPARIAN_CHANNEL "casparian"

/** Room for a key of waits, with its NUL. */
#define CASPARIAN_KEY_SIZE 64

typedef struct casparian_store casparian_store;

/** Zero is the default of every field that is not required. */
typedef struct casparian_store_options {
    const char *home;      /* the casparian home; required. Made with mode 0700 if it is missing */
    const char *path;      /* of the database; NULL: state.sqlite in the home */
    const mcp_file *files; /* the server's embedded files, with sql/; required */
    const casparian_settings *settings; /* required; outlives the store */
    guard_audit *audit; /* gets the lines of jobs and approvals; NULL: none. Outlives the store */
    bool is_audit_required;      /* a decision whose line cannot be written is refused */
    bool has_waits;              /* calls will wait for jobs and approvals */
    bool (*is_over)(void *data); /* see jobs_waits_options; of the waits' data */
    mcp_log log;
} casparian_store_options;

/**
 * Open the state of a home, made or brought up to date if need be.
 *
 * @param out     yours, close it with casparian_store_close
 * @param options copied
 * @return MCP_OK; MCP_E_UNSUPPORTED: a newer program has written this state (the shell exits with
 *         3); MCP_E_DENIED, MCP_E_IO, MCP_E_NOT_FOUND: the home or the file, named in the message;
 *         MCP_E_BUSY; MCP_E_NOMEM
 */
mcp_status casparian_store_open(casparian_store **out, const casparian_store_options *options,
                                mcp_error *err);

/** End the waits, then close it. NULL is fine. */
void casparian_store_close(casparian_store *self);

const char *casparian_store_home(const casparian_store *self);
const casparian_settings *casparian_store_settings(const casparian_store *self);
const mcp_log *casparian_store_log(const casparian_store *self);

/** For statements of others: sources and files, the registry of plugins. */
db *casparian_store_database(casparian_store *self);

/** Calls that wait, by the keys below; NULL without `has_waits`. */
jobs_waits *casparian_store_waits(casparian_store *self);

/** The key of a job, "job/42". */
void casparian_job_key(char out[CASPARIAN_KEY_SIZE], int64_t job);

/** The key of an approval, "approval/..."; `id` is valid. */
void casparian_approval_key(char out[CASPARIAN_KEY_SIZE], const char *id);

/**
 * End a session: commit it if `st` is MCP_OK, else roll it back.
 *
 * @return `st`, or the status of the commit
 */
mcp_status casparian_store_end(db_session *session, mcp_status st, mcp_error *err);

#endif

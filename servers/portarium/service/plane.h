/**
 * plane.h - a running control plane: its database, the engine, and the operations on them.
 *
 * One plane a process. Several processes may share one PostgreSQL database; each is then a replica.
 */
#ifndef PORTARIUM_SERVICE_PLANE_H
#define PORTARIUM_SERVICE_PLANE_H

#include "bus/bus.h"
#include "engine/engine.h"
#include "jobs/waits.h"
#include "mcp/files.h"
#include "service/operation.h"
#include "service/trail/pump.h"
#include "store/committer.h"

typedef struct portarium_plane portarium_plane;

/** Zero is the default of every field. */
typedef struct portarium_plane_options {
    const char *url;       /* of the database; required */
    const mcp_file *files; /* the server's embedded files: sql/ and schemas/; required */
    bool read_only;        /* commands are refused, and no engine runs */
    bool has_no_engine;    /* nothing moves runs here: a command of the shell */
    bool must_exist;       /* a database without a control plane is refused, not filled */
    portarium_settings settings;
    portarium_engine_options engine;
    portarium_pump_options webhooks;
    const char *evidence_key; /* file of the key that signs checkpoints, made if there is none;
                               * NULL: there are no checkpoints */
    const char
        *checkpoint_file; /* to which checkpoints are appended, with an evidence_key; NULL: none */
    const char *key_file; /* of 32 bytes that seal secret parameters (settings.seal_key), made when
                           * it is absent; NULL: none */
    mcp_log database_log;
    /** Policies of the workspace were changed, by whatever process. On the thread of the feed of
     *  events, which does nothing else meanwhile. NULL: nobody asks. */
    mcp_status (*on_policies)(const char *workspace, void *data, mcp_error *err);
    void *policies_data; /* passed to `on_policies` */
} portarium_plane_options;

/**
 * Open the database, bring its schema up to date, and start the engine.
 *
 * @param out yours, close it with portarium_plane_close
 * @return MCP_OK; MCP_E_NOT_FOUND: it must exist; statuses of db_open and db_migrate
 */
mcp_status portarium_plane_open(portarium_plane **out, const portarium_plane_options *options,
                                mcp_error *err);

/** Stop the engine: attempts in flight get their deadline's rest, at most the grace; then close
 *  everything. NULL is fine. */
void portarium_plane_close(portarium_plane *self);

/**
 * Run an operation: check the actor, the body and the key, run it in a transaction, and answer.
 *
 * Blocks until the commit. Any thread, many at once. Whatever goes wrong is an answer: the reply
 * has a status of 400 or above then.
 *
 * @param arena the reply's
 */
void portarium_plane_run(portarium_plane *self, const portarium_operation *operation,
                         const portarium_request *request, mcp_arena *arena,
                         portarium_reply *reply);

/** Run work that reads, outside of operations. As portarium_view. @param workspace NULL: none */
mcp_status portarium_plane_read(portarium_plane *self, const char *workspace, mcp_arena *arena,
                                portarium_work *work, void *data, mcp_error *err);

/** Run work that writes, outside of operations. As portarium_commit.
 *  @param workspace NULL: the work makes one */
mcp_status portarium_plane_write(portarium_plane *self, const char *workspace, mcp_arena *arena,
                                 portarium_work *work, void *data, mcp_error *err);

/**
 * Run work that writes, without waiting for its commit.
 *
 * @param as     workspace, actor, arena and correlation_id; what it points to lives until `on_end`
 * @param on_end called once; must not block
 */
void portarium_plane_submit(portarium_plane *self, const portarium_tx *as, portarium_work *write,
                            portarium_on_end *on_end, void *data);

/** The entity tag of a text, with quotes; in the arena. @return NULL: no memory */
const char *portarium_etag(mcp_arena *arena, const char *text, size_t length);

/** Whether the value of If-Match or If-None-Match has that entity tag.
 *  @param strong If-Match: a weak tag is no match */
bool portarium_etag_matches(const char *list, const char *etag, bool strong);

/** The last part of the `type` of a problem with that status ("not-found"), and its title. */
const char *portarium_problem_slug(const portarium_reply *reply);
const char *portarium_problem_title(const portarium_reply *reply);

/** The text of a problem document (RFC 9457) for a reply of 400 or above. @param path of the
 *  request; NULL: none */
mcp_status portarium_problem(mcp_buf *out, const portarium_reply *reply, const char *path);

/** The events of workspaces, for streams; topics are workspaces. */
bus *portarium_plane_events(portarium_plane *self);

/** Calls that wait for a change; keys are "WORKSPACE/run/ID" and so on. The `data` of each wait is
 *  a struct whose first member is its mcp_call (gateway/wait.h): a wait whose call should stop is
 *  cancelled. */
jobs_waits *portarium_plane_waits(portarium_plane *self);

/** The schemas of bodies. */
const portarium_shapes *portarium_plane_shapes(const portarium_plane *self);

db *portarium_plane_database(portarium_plane *self);

#endif

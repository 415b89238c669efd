/*
 * plane.c - the way of an operation: permission, body, key, transaction, answer.
 */
#include "service/plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "engine/control/manual.h"
#include "engine/engine.h"
#include "engine/gates/approval.h"
#include "engine/gates/propose.h"
#include "engine/timers.h"
#include "engine/work.h"
#include "keys/canonical.h"
#include "keys/seal.h"
#include "keys/sign.h"
#include "mcp/hash.h"
#include "mcp/random.h"
#include "service/feed.h"
#include "service/fleet/pulse.h"
#include "service/trail/checkpoint_file.h"
#include "service/trail/upkeep.h"
#include "store/definitions.h"
#include "store/idempotency.h"
#include "store/journal.h"
#include "store/tokens.h"

enum { VIEWS = 3 };

struct portarium_plane {
    db *database;
    portarium_settings settings;
    portarium_committer *committer;
    portarium_shapes *shapes;
    portarium_feed *feed;
    portarium_engine *engine;
    portarium_timers *timers;
    portarium_upkeep *upkeep;
    char instance[MCP_RANDOM_ID_SIZE];
    uint8_t seal_key[KEYS_SECRET_SIZE];
    bool read_only;
    mcp_status (*on_policies)(const char *workspace, void *data, mcp_error *err);
    void *policies_data;
};

/* ---- one operation --------------------------------------------------------------------------- */

/* An operation on its way. */
typedef struct task {
    portarium_plane *plane;
    const portarium_operation *operation;
    const portarium_request *request;
    portarium_reply *reply;
    char fingerprint[KEYS_HEX_SIZE];
    bool tells_why; /* it was refused: look at the caller first, and say if that is why */
} task;

static void reset(portarium_reply *reply, mcp_arena *arena)
{
    *reply = (portarium_reply){ .status = 0 };
    portarium_fields_init(&reply->fields, arena);
}

/* A caller whose claims name the workspace: they may name any, and a user who is not active. A
 * command locks the workspace, and so finds out by itself whether it is there. */
static mcp_status check_claims(const task *self, portarium_tx *tx, mcp_error *err)
{
    portarium_record workspace;
    const char *subject = self->request->actor->subject;
    db_value values[] = { db_text(tx->workspace), db_text(subject) };
    portarium_tx in = *tx;
    in.workspace = self->request->actor->workspace;
    if (!in.workspace)
        return MCP_OK;
    if (!tx->workspace)
        return portarium_subject_check(&in, subject, err);
    if (!tx->writes && !self->tells_why)
        return db_defer(tx->session, MCP_E_NOT_FOUND,
                        "SELECT 1 FROM heads WHERE workspace = $1 AND NOT EXISTS (SELECT 1 FROM "
                        "users WHERE users.workspace = heads.workspace AND users.id = $2 AND "
                        "users.active = 0)",
                        values, 2, err);
    mcp_status st = tx->writes ? MCP_OK
                               : portarium_record_get(&workspace, tx, &portarium_workspaces,
                                                      tx->workspace, err);
    return st == MCP_OK ? portarium_subject_check(tx, subject, err) : st;
}

/* A token that was revoked, or has expired, does nothing from then on, whatever a cache says. Those
 * that only read do not wait for the answer: nothing is read before it is there. */
static mcp_status check_caller(const task *self, portarium_tx *tx, mcp_error *err)
{
    portarium_token token;
    const char *hash = self->request->actor->token_hash;
    int64_t expires = self->request->actor->expires_ms;
    if (expires > 0 && expires <= tx->now_ms)
        return mcp_error_set(err, MCP_E_DENIED, "The token has expired.");
    if (!hash)
        return check_claims(self, tx, err);
    return tx->writes || self->tells_why ? portarium_token_read(&token, tx, hash, err)
                                         : portarium_token_require(tx, hash, err);
}

static mcp_status replay(task *self, portarium_tx *tx, bool *found, mcp_error *err)
{
    portarium_stored_answer answer;
    const portarium_request *request = self->request;
    mcp_status st = portarium_idempotency_find(&answer, found, tx, self->operation->name,
                                               request->idempotency_key, self->fingerprint, err);
    if (st == MCP_OK && *found) {
        self->reply->status = answer.status;
        self->reply->text = answer.text;
        self->reply->length = answer.text ? strlen(answer.text) : 0;
        self->reply->location = answer.location;
    }
    return st;
}

static mcp_status store_answer(task *self, portarium_tx *tx, mcp_error *err)
{
    const portarium_reply *reply = self->reply;
    const portarium_stored_answer answer = { .status = reply->status,
                                             .text = reply->repeated ? reply->repeated
                                                                     : reply->text,
                                             .location = reply->location };
    return portarium_idempotency_add(tx, self->operation->name, self->request->idempotency_key,
                                     self->fingerprint, &answer, err);
}

static mcp_status work(portarium_tx *tx, void *data, mcp_error *err)
{
    task *self = data;
    bool found = false;
    bool has_key = tx->writes && self->request->idempotency_key;
    reset(self->reply, tx->arena);
    mcp_status st = check_caller(self, tx, err);
    if (st == MCP_OK && has_key)
        st = replay(self, tx, &found, err);
    if (st != MCP_OK || found)
        return st;
    st = self->operation->run(tx, self->request, self->reply, err);
    return st == MCP_OK && has_key && self->reply->status < 400 ? store_answer(self, tx, err) : st;
}

/* Who is about to be shown evidence. */
static mcp_status note_read(portarium_tx *tx, void *data, mcp_error *err)
{
    const task *self = data;
    const char *run = portarium_argument(self->request, "runId");
    const char *payload = portarium_argument(self->request, "payloadId");
    bool names_payload = payload && portarium_id_is_valid(payload);
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "%s read evidence: %s%s%s",
                                    self->request->actor->subject, self->operation->name,
                                    names_payload ? " " : "", names_payload ? payload : ""),
        .run_id = run && portarium_id_is_valid(run) ? run : NULL,
    };
    mcp_status st = check_caller(self, tx, err);
    if (st == MCP_OK && !entry.summary)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for an entry of evidence");
    return st == MCP_OK ? portarium_evidence_add(tx, &entry, err) : st;
}

static int http_of(mcp_status status)
{
    switch (status) {
    case MCP_E_NOT_FOUND:
        return 404;
    case MCP_E_EXISTS:
        return 409;
    case MCP_E_DENIED:
        return 403;
    case MCP_E_PARAMS:
    case MCP_E_SCHEMA:
        return 422;
    case MCP_E_UNSUPPORTED:
        return 501;
    case MCP_E_BUSY:
    case MCP_E_STOPPED:
    case MCP_E_STORAGE:
    case MCP_E_TIMEOUT:
    case MCP_E_LIMIT:
        return 503;
    default:
        return 500;
    }
}

/* The connection broke while the command was committed (db_commit), and repeating it by its key is
 * what finds out. */
static const char unknown_text[] =
    "The database was lost while this was stored: whether it was done is not known. Repeat the "
    "request with the same Idempotency-Key; without one, look before you repeat it.";

/* What the engine refuses is no refusal of the client, who may not learn either what it says: a
 * role that has lost a right, a server that has become a standby, a constraint. */
static int http_of_engine(mcp_status status)
{
    return status == MCP_E_DENIED ? 503 : http_of(status) < 500 ? 500 : http_of(status);
}

/* The answer to an operation that failed, unless it has refused by itself. */
static void fail(task *self, mcp_arena *arena, mcp_status status, const mcp_error *err)
{
    portarium_reply *reply = self->reply;
    if (reply->status >= 400)
        return;
    portarium_fields fields = reply->fields;
    reset(reply, arena);
    reply->fields = fields;
    reply->status = db_is_engines(err) ? http_of_engine(status) : http_of(status);
    if (status == MCP_E_IO && db_is_shared(self->plane->database))
        reply->status = 503; /* what was read was lost, and can be read again */
    if (status == MCP_E_IO && (self->operation->flags & PORTARIUM_COMMAND)) {
        reply->status = 503;
        reply->is_unknown = true;
    }
    reply->detail = reply->is_unknown ? unknown_text
                    : reply->status < 500 || reply->status == 501
                        ? mcp_arena_strdup(arena, err->message)
                        : "The control plane could not complete the request.";
    if (reply->status == 503)
        reply->retry_after_s = 1;
    if (reply->status >= 500)
        mcp_log_write(&self->plane->settings.log, MCP_LOG_WARNING, "%s: %s: %s",
                      self->operation->name, mcp_status_words(status), err->message);
}

/* ---- before the transaction ------------------------------------------------------------------ */

static mcp_status fingerprint_of(task *self, mcp_error *err)
{
    const portarium_request *request = self->request;
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf buf;
    mcp_buf_init(&buf, 8 << 20);
    mcp_buf_printf(&buf, "%s\n%s\n", request->actor->subject,
                   request->workspace ? request->workspace : "");
    mcp_status st = keys_canonical(&buf, request->arguments, err);
    if (st == MCP_OK && request->body)
        st = keys_canonical(&buf, request->body, err);
    if (st == MCP_OK)
        st = mcp_sha256(digest, buf.data, buf.length, err);
    if (st == MCP_OK)
        keys_hex(self->fingerprint, digest);
    mcp_buf_clear(&buf);
    return st;
}

/* What is stored may become evidence, or part of what is approved, which is I-JSON. */
static mcp_status check_portable(task *self, mcp_error *err)
{
    portarium_fields *fields = &self->reply->fields;
    if (!self->request->body || !(self->operation->flags & PORTARIUM_COMMAND) ||
        self->operation->body == PORTARIUM_SHAPE_Heartbeat)
        return MCP_OK;
    portarium_body_judge_portable(self->request->body, fields);
    return portarium_fields_status(fields, err);
}

static mcp_status check(task *self, mcp_arena *arena, mcp_error *err)
{
    const portarium_operation *operation = self->operation;
    const portarium_request *request = self->request;
    const portarium_actor *actor = request->actor;
    portarium_reply *reply = self->reply;
    portarium_tx tx = { .arena = arena }; /* of refusals before the transaction */
    bool is_global = operation->flags & PORTARIUM_GLOBAL;
    if (!is_global && actor->workspace && strcmp(actor->workspace, request->workspace) != 0)
        return portarium_refuse(reply, &tx, err, 403,
                                "Token workspace does not match requested workspace: %.128s",
                                request->workspace);
    if (actor->agent_id && !(operation->flags & PORTARIUM_AGENTS))
        return portarium_refuse(reply, &tx, err, 403, "%s is not for agents.", operation->name);
    if (!portarium_may(actor->roles, operation->permission))
        return portarium_refuse(reply, &tx, err, 403, "%s requires another role.", operation->name);
    if (self->plane->read_only && (operation->flags & PORTARIUM_COMMAND))
        return portarium_refuse(reply, &tx, err, 403, "%s: the server is read only.",
                                operation->name);
    if (request->idempotency_key &&
        strlen(request->idempotency_key) > PORTARIUM_IDEMPOTENCY_KEY_MAX)
        return portarium_refuse(reply, &tx, err, 422, "Idempotency-Key: more than %d bytes",
                                PORTARIUM_IDEMPOTENCY_KEY_MAX);
    bool has_body = operation->body != PORTARIUM_NO_BODY;
    mcp_status st = check_portable(self, err);
    if (st != MCP_OK || (!has_body && !(operation->flags & PORTARIUM_PATCH)))
        return st;
    if (!request->body && (operation->flags & PORTARIUM_MAY_LACK_BODY))
        return MCP_OK;
    if (!request->body)
        return portarium_refuse(reply, &tx, err, 400, "%s needs a JSON object as its body.",
                                operation->name);
    return has_body && !(operation->flags & PORTARIUM_JUDGES_BODY)
               ? portarium_shape_check(self->plane->shapes, operation->body, request->body,
                                       &reply->fields, err)
               : MCP_OK;
}

/* Again where the connection was lost. Where it is refused, once more with the caller looked at
 * first: he may be the cause, and an operation that has refused without a query did not learn of
 * it. */
static mcp_status view(task *self, const portarium_tx *as, mcp_error *err)
{
    mcp_status st = portarium_view(self->plane->committer, as, work, self, err);
    for (int i = 1; i < VIEWS && st == MCP_E_IO && db_is_shared(self->plane->database); i++)
        st = portarium_view(self->plane->committer, as, work, self, err);
    bool may_be_cause = self->request->actor->token_hash || self->request->actor->workspace;
    self->tells_why = may_be_cause && st != MCP_OK && http_of(st) < 500;
    return self->tells_why ? portarium_view(self->plane->committer, as, work, self, err) : st;
}

void portarium_plane_run(portarium_plane *self, const portarium_operation *operation,
                         const portarium_request *request, mcp_arena *arena, portarium_reply *reply)
{
    mcp_error err = MCP_ERROR_INIT;
    task what = { .plane = self, .operation = operation, .request = request, .reply = reply };
    const portarium_tx as = { .arena = arena,
                              .workspace = operation->flags & PORTARIUM_GLOBAL ? NULL
                                                                               : request->workspace,
                              .actor = request->actor,
                              .correlation_id = request->correlation_id,
                              .trace = request->trace };
    bool writes = operation->flags & PORTARIUM_COMMAND;
    reset(reply, arena);
    mcp_status st = check(&what, arena, &err);
    if (st == MCP_OK && self->settings.audit_reads && (operation->flags & PORTARIUM_EVIDENCE))
        st = portarium_commit(self->committer, &as, note_read, &what, &err);
    if (st == MCP_OK && writes && request->idempotency_key)
        st = fingerprint_of(&what, &err);
    if (st == MCP_OK)
        st = writes ? portarium_commit(self->committer, &as, work, &what, &err)
                    : view(&what, &as, &err);
    if (st != MCP_OK)
        fail(&what, arena, st, &err);
    else if ((operation->flags & PORTARIUM_ETAG) && reply->text && reply->status < 300)
        reply->etag = portarium_etag(arena, reply->text, reply->length);
}

mcp_status portarium_plane_read(portarium_plane *self, const char *workspace, mcp_arena *arena,
                                portarium_work *read, void *data, mcp_error *err)
{
    const portarium_tx as = { .arena = arena, .workspace = workspace };
    return portarium_view(self->committer, &as, read, data, err);
}

static const portarium_actor system_actor = { .subject = "system:plane" };

mcp_status portarium_plane_write(portarium_plane *self, const char *workspace, mcp_arena *arena,
                                 portarium_work *write, void *data, mcp_error *err)
{
    const portarium_tx as = {
        .arena = arena, .workspace = workspace, .actor = &system_actor, .correlation_id = "system"
    };
    return portarium_commit(self->committer, &as, write, data, err);
}

void portarium_plane_submit(portarium_plane *self, const portarium_tx *as, portarium_work *write,
                            portarium_on_end *on_end, void *data)
{
    portarium_commit_submit(self->committer, as, write, on_end, data);
}

/* ---- the plane ------------------------------------------------------------------------------- */

/* After a commit. Streams and waits learn of it by the feed. */
static void on_commit(const char *workspace, const portarium_after *after, void *data)
{
    portarium_plane *self = data;
    for (size_t i = 0; self->engine && i < after->run_count; i++)
        portarium_engine_wake(self->engine, workspace, after->runs[i]);
    if (self->engine && (after->has_more_runs || after->changes_timers))
        portarium_engine_look(self->engine);
}

static mcp_status on_news(const char *workspace, bool of_policies, void *data, mcp_error *err)
{
    portarium_plane *self = data;
    portarium_pump_wake(self->settings.pump);
    return of_policies && self->on_policies ? self->on_policies(workspace, self->policies_data, err)
                                            : MCP_OK;
}

static const portarium_timer_kind timer_kinds[] = {
    { PORTARIUM_APPROVAL_TIMER, portarium_approval_tick },
    { PORTARIUM_TASK_TIMER, portarium_manual_tick },
    { PORTARIUM_OUTPUT_TIMER, portarium_execution_forget },
    { 0 },
};

static mcp_status read_key(keys_pair **out, const char *path, mcp_error *err)
{
    mcp_status st = keys_pair_read(out, path, err);
    return st == MCP_E_NOT_FOUND ? keys_pair_create(out, path, err) : st;
}

/* What has happened is past, whatever the clock shows. */
static mcp_status reach_time(portarium_tx *tx, void *data, mcp_error *err)
{
    db_rows *rows = NULL;
    (void)data;
    mcp_status st = db_query(&rows, tx->session, "SELECT MAX(evidence_at) FROM heads", NULL, 0,
                             err);
    if (portarium_next(rows, &st, err) && !db_null_at(rows, 0))
        db_time_reach(tx->session, db_int_at(rows, 0));
    db_rows_free(rows);
    return st;
}

static mcp_status find_time(portarium_plane *self, mcp_error *err)
{
    const portarium_tx as = { .workspace = NULL };
    return portarium_view(self->committer, &as, reach_time, NULL, err);
}

/* A database that was named by mistake gets no tables. */
static mcp_status check_existence(db *database, mcp_error *err)
{
    bool is_there = false;
    mcp_status st = db_is_migrated(&is_there, database, err);
    return st != MCP_OK || is_there
               ? st
               : mcp_error_set(err, MCP_E_NOT_FOUND,
                               "the database has no control plane: portarium admin apply makes "
                               "one, and portarium serve does");
}

static mcp_status start(portarium_plane *self, const portarium_plane_options *options,
                        mcp_error *err)
{
    mcp_status st = options->must_exist ? check_existence(self->database, err) : MCP_OK;
    if (st == MCP_OK)
        st = db_migrate(self->database, options->files, "sql", err);
    if (st == MCP_OK)
        st = portarium_shapes_new(&self->shapes, options->files, err);
    if (st == MCP_OK)
        st = portarium_definitions_new(&self->settings.definitions, self->shapes, err);
    if (st == MCP_OK)
        st = portarium_policies_new(&self->settings.policies, self->shapes, err);
    self->settings.shapes = self->shapes;
    self->settings.executors = options->engine.executors;
    self->settings.has_row_security = strcmp(db_engine(self->database), "postgres") == 0;
    if (st == MCP_OK && options->evidence_key)
        st = read_key(&self->settings.evidence_key, options->evidence_key, err);
    if (st == MCP_OK)
        st = portarium_committer_new(&self->committer, self->database, &self->settings, on_commit,
                                     self, err);
    if (st == MCP_OK)
        st = find_time(self, err);
    bool is_alive = !options->read_only && !options->has_no_engine;
    if (st == MCP_OK && is_alive && options->checkpoint_file && self->settings.evidence_key)
        st = portarium_checkpoint_file_open(&self->settings.checkpoint_file,
                                            options->checkpoint_file, self->settings.evidence_key,
                                            err);
    self->settings.has_engine = is_alive;
    if (st == MCP_OK && is_alive && options->webhooks.egress_count > 0)
        st = portarium_pump_new(&self->settings.pump, self->database, &self->settings,
                                &options->webhooks, err);
    if (st == MCP_OK)
        st = portarium_feed_new(&self->feed, self->database, &self->settings, on_news, self, err);
    if (st == MCP_OK && is_alive)
        st = portarium_pulses_new(&self->settings.pulses, self->committer, &self->settings, err);
    if (st == MCP_OK && is_alive)
        st = portarium_upkeep_new(&self->upkeep, self->database, self->committer, &self->settings,
                                  err);
    if (st == MCP_OK && is_alive)
        st = portarium_engine_new(&self->engine, self->database, self->committer, &self->settings,
                                  &options->engine, err);
    if (st == MCP_OK && self->engine)
        st = portarium_timers_new(&self->timers, self->database, self->committer, &self->settings,
                                  timer_kinds, err);
    return st;
}

/* Every process has its own name, so a lease of a dead one is never taken for its own. */
static mcp_status name_instance(portarium_plane *self, mcp_error *err)
{
    mcp_status st = self->settings.instance ? MCP_OK : mcp_random_id(self->instance, err);
    if (!self->settings.instance)
        self->settings.instance = self->instance;
    return st;
}

/* The key of the file, which the first plane makes. */
static mcp_status read_seal_key(portarium_plane *self, const char *path, mcp_error *err)
{
    if (!path)
        return MCP_OK;
    mcp_status st = keys_secret_read(self->seal_key, path, err);
    if (st == MCP_E_NOT_FOUND)
        st = keys_secret_create(self->seal_key, path, err);
    if (st == MCP_OK)
        self->settings.seal_key = self->seal_key;
    return st;
}

mcp_status portarium_plane_open(portarium_plane **out, const portarium_plane_options *options,
                                mcp_error *err)
{
    const db_options how = { .read_only = options->read_only,
                             .hears_others = true,
                             .steady_time = true,
                             .log = options->database_log };
    portarium_plane *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the control plane");
    self->settings = options->settings;
    self->read_only = options->read_only;
    self->on_policies = options->on_policies;
    self->policies_data = options->policies_data;
    mcp_status st = name_instance(self, err);
    if (st == MCP_OK)
        st = read_seal_key(self, options->key_file, err);
    if (st == MCP_OK)
        st = db_open(&self->database, options->url, &how, err);
    if (st == MCP_OK)
        st = start(self, options, err);
    if (st != MCP_OK) {
        portarium_plane_close(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_plane_close(portarium_plane *self)
{
    if (!self)
        return;
    portarium_timers_free(self->timers);
    portarium_engine_free(self->engine);
    portarium_upkeep_free(self->upkeep);
    portarium_pulses_free(self->settings.pulses);
    portarium_committer_free(self->committer);
    portarium_feed_free(self->feed);
    portarium_pump_free(self->settings.pump);
    portarium_definitions_free(self->settings.definitions);
    portarium_policies_free(self->settings.policies);
    portarium_shapes_free(self->shapes);
    portarium_checkpoint_file_free(self->settings.checkpoint_file);
    keys_pair_free(self->settings.evidence_key);
    db_close(self->database);
    free(self);
}

bus *portarium_plane_events(portarium_plane *self)
{
    return portarium_feed_bus(self->feed);
}

jobs_waits *portarium_plane_waits(portarium_plane *self)
{
    return portarium_feed_waits(self->feed);
}

const portarium_shapes *portarium_plane_shapes(const portarium_plane *self)
{
    return self->shapes;
}

db *portarium_plane_database(portarium_plane *self)
{
    return self->database;
}

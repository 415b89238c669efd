/*
 * pump.c - threads that each take a webhook by lease, and post its events one after the other.
 */
#include "service/trail/pump.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sealed/secrets.h"
#include "fault/fault.h"
#include "fetch/egress.h"
#include "fetch/fetch.h"
#include "keys/canonical.h"
#include "mcp/clock.h"
#include "store/tx.h"
#include "thread/thread.h"

enum { THREADS = 4, BATCH = 50, POLL_MS = 1000, LEASE_MS = 60000, TURN_MS = 30000 };
enum { TIMEOUT_MS = 10000, RETRY_MS = 1000, RETRY_MAX_MS = 300000, ARENA_MAX = 64 << 20 };

/* A thread. */
typedef struct deliverer {
    thread_worker worker;
    portarium_pump *pump;
} deliverer;

struct portarium_pump {
    db *database;
    const portarium_settings *settings;
    fetch *client;
    fetch_egress *egress;
    int64_t retry_ms;
    atomic_bool is_stopping;
    pthread_mutex_t lock; /* of the workers */
    deliverer threads[THREADS];
};

/* A webhook that this thread delivers to. Texts in the arena. */
typedef struct turn {
    mcp_arena *arena;
    const char *workspace, *id, *url;
    const char *secret;    /* NULL: this server cannot open it */
    const mcp_json *types; /* NULL: all */
    int64_t delivered, fence, failures;
    const char *failure; /* why the last delivery of this turn failed; NULL: none has */
} turn;

const char *portarium_webhook_secret_name(mcp_arena *arena, const char *workspace, const char *id)
{
    return mcp_arena_printf(arena, "%s/%s/webhook", workspace, id);
}

/* ---- taking a webhook ------------------------------------------------------------------------ */

/* A secret that cannot be opened stops this webhook alone: its delivery fails, and comes again. */
static mcp_status read_secret(turn *out, const portarium_settings *settings, const mcp_json *hidden,
                              mcp_error *err)
{
    size_t length = 0;
    const char *sealed = mcp_json_get_string(hidden, "sealed");
    const char *name = portarium_webhook_secret_name(out->arena, out->workspace, out->id);
    out->secret = mcp_json_get_string(hidden, "secret"); /* stored before secrets were sealed */
    if (!sealed)
        return out->secret ? MCP_OK : mcp_error_set(err, MCP_E_INTERNAL, "a webhook has no secret");
    mcp_status st = name ? portarium_unseal(&out->secret, &length, out->arena, settings, name,
                                            sealed, err)
                         : mcp_error_set(err, MCP_E_NOMEM, "no memory for a secret");
    if (st != MCP_E_DENIED && st != MCP_E_UNSUPPORTED)
        return st;
    mcp_log_write(&settings->log, MCP_LOG_WARNING, "webhook %s: its secret cannot be opened: %s",
                  out->id, err->message);
    return MCP_OK;
}

static mcp_status read_turn(turn *out, const portarium_settings *settings, const db_rows *rows,
                            mcp_error *err)
{
    const mcp_json *json = NULL, *hidden = NULL;
    size_t length = 0;
    const char *text = db_text_at(rows, 5, &length);
    mcp_status st = mcp_json_read(&json, out->arena, text, length, err);
    text = db_text_at(rows, 6, &length);
    if (st == MCP_OK)
        st = mcp_json_read(&hidden, out->arena, text, length, err);
    out->workspace = mcp_arena_strdup(out->arena, db_text_at(rows, 0, NULL));
    out->id = mcp_arena_strdup(out->arena, db_text_at(rows, 1, NULL));
    out->delivered = db_int_at(rows, 2);
    out->fence = db_int_at(rows, 3);
    out->failures = db_int_at(rows, 4);
    out->url = mcp_json_get_string(json, "url");
    out->types = mcp_json_get(json, "types");
    return st == MCP_OK ? read_secret(out, settings, hidden, err) : st;
}

/* Take a webhook that has events to come. @param found whether there is one */
static mcp_status take(portarium_pump *self, db_session *session, turn *out, bool *found,
                       mcp_error *err)
{
    db_rows *rows = NULL;
    int64_t now = 0, changed = 0;
    mcp_status st = db_now(session, &now, err);
    db_value due[] = { db_int(now) };
    if (st == MCP_OK)
        st = db_query(&rows, session,
                      "SELECT w.workspace, w.id, w.delivered, w.fence, w.failures, w.json, "
                      "w.hidden FROM webhooks w JOIN heads h ON h.workspace = w.workspace WHERE "
                      "h.event_seq > w.delivered AND COALESCE(w.next_at, 0) <= $1 AND "
                      "COALESCE(w.lease_until, 0) < $1 ORDER BY COALESCE(w.next_at, 0) LIMIT 1",
                      due, 1, err);
    *found = portarium_next(rows, &st, err);
    if (*found)
        st = read_turn(out, self->settings, rows, err);
    db_rows_free(rows);
    if (st != MCP_OK || !*found)
        return st;
    int64_t lease_ms = fault_lease_ms() > 0 ? fault_lease_ms() : LEASE_MS;
    db_value values[] = { db_text(out->workspace), db_text(out->id),
                          db_text(self->settings->instance), db_int(now + lease_ms),
                          db_int(out->fence) };
    st = db_run(session, &changed,
                "UPDATE webhooks SET lease_owner = $3, lease_until = $4, fence = fence + 1 WHERE "
                "workspace = $1 AND id = $2 AND fence = $5",
                values, 5, err);
    *found = st == MCP_OK && changed == 1;
    out->fence++;
    return st;
}

/* Store how far it came. A webhook that another has taken, or that is gone, is left alone. */
static mcp_status give_back(const turn *what, db_session *session, int64_t delay_ms, mcp_error *err)
{
    int64_t now = 0;
    mcp_status st = db_now(session, &now, err);
    db_value values[] = { db_text(what->workspace), db_text(what->id),
                          db_int(what->fence),      db_int(what->delivered),
                          db_int(what->failures),   db_int(now + delay_ms),
                          db_text(what->failure),   db_int(now) };
    return st == MCP_OK
               ? db_run(session, NULL,
                        "UPDATE webhooks SET delivered = $4, failures = $5, next_at = $6, "
                        "lease_owner = NULL, lease_until = NULL, "
                        "failure = COALESCE(CAST($7 AS TEXT), failure), "
                        "failed_at = CASE WHEN CAST($7 AS TEXT) IS NULL THEN failed_at ELSE $8 END "
                        "WHERE workspace = $1 AND id = $2 AND fence = $3",
                        values, 8, err)
               : st;
}

/* ---- delivering ------------------------------------------------------------------------------ */

typedef struct event {
    int64_t seq;
    const char *id, *type, *text;
    size_t length;
} event;

static mcp_status read_events(event *out, size_t *count, const turn *what, db_session *session,
                              mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(what->workspace), db_int(what->delivered), db_int(BATCH) };
    mcp_status st = db_query(&rows, session,
                             "SELECT seq, type, json FROM outbox WHERE workspace = $1 AND "
                             "seq > $2 ORDER BY seq LIMIT $3",
                             values, 3, err);
    for (*count = 0; portarium_next(rows, &st, err); ++*count) {
        event *at = &out[*count];
        const char *text = db_text_at(rows, 2, &at->length);
        const mcp_json *json = NULL;
        at->seq = db_int_at(rows, 0);
        at->type = mcp_arena_strdup(what->arena, db_text_at(rows, 1, NULL));
        at->text = mcp_arena_strndup(what->arena, text, at->length);
        st = at->text && at->type ? mcp_json_read(&json, what->arena, at->text, at->length, err)
                                  : mcp_error_set(err, MCP_E_NOMEM, "no memory for an event");
        at->id = mcp_json_get_string(json, "id");
    }
    db_rows_free(rows);
    return st;
}

static bool is_wanted(const turn *what, const event *of)
{
    for (size_t i = 0; i < mcp_json_count(what->types); i++) {
        if (strcmp(mcp_json_string(mcp_json_item(what->types, i), NULL), of->type) == 0)
            return true;
    }
    return !what->types;
}

static mcp_status sign(char out[KEYS_HEX_SIZE], const turn *what, const event *of,
                       const char *timestamp, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_buf text;
    mcp_buf_init(&text, of->length + 1024);
    mcp_status st = mcp_buf_printf(&text, "%s.%s.%.*s", of->id, timestamp, (int)of->length,
                                   of->text);
    if (st == MCP_OK)
        st = mcp_hmac_sha256(digest, what->secret, strlen(what->secret), text.data, text.length,
                             err);
    if (st == MCP_OK)
        keys_hex(out, digest);
    mcp_buf_clear(&text);
    return st;
}

static bool should_stop(void *data)
{
    return ((portarium_pump *)data)->is_stopping;
}

/* Why a delivery failed, as the workspace's admins see it: without what is for the host alone, as
 * the address behind a name. */
static const char *reason_of(mcp_arena *arena, mcp_status status, int http_status)
{
    const char *reason = NULL;
    switch (status) {
    case MCP_OK:
    case MCP_E_LIMIT: /* an answer that was too long to be read */
        reason = mcp_arena_printf(arena, "the receiver answered %d", http_status);
        break;
    case MCP_E_TIMEOUT:
        return "the receiver did not answer in 10 seconds";
    case MCP_E_DENIED:
        return "this server may not connect to the address";
    default:
        return "the receiver could not be reached";
    }
    return reason ? reason : "the receiver refused the event";
}

/* @return whether the receiver has it */
static bool post(portarium_pump *self, turn *what, const event *of)
{
    mcp_error err = MCP_ERROR_INIT;
    char timestamp[24], digest[KEYS_HEX_SIZE], signature[KEYS_HEX_SIZE + 3];
    fetch_result result = { .status = 0 };
    what->failure = "this server cannot open the webhook's secret, see its --key-file";
    if (!what->secret)
        return false;
    what->failure = "the event could not be signed";
    snprintf(timestamp, sizeof timestamp, "%" PRId64, mcp_clock_wall_ms() / 1000);
    mcp_status st = sign(digest, what, of, timestamp, &err);
    if (st != MCP_OK)
        return false;
    snprintf(signature, sizeof signature, "v1=%s", digest);
    const fetch_header headers[] = { { "content-type", "application/cloudevents+json" },
                                     { "webhook-id", of->id },
                                     { "webhook-timestamp", timestamp },
                                     { "webhook-signature", signature } };
    const fetch_request request = { .url = what->url,
                                    .headers = headers,
                                    .header_count = sizeof headers / sizeof headers[0],
                                    .body = of->text,
                                    .body_length = of->length,
                                    .timeout_ms = TIMEOUT_MS,
                                    .may_repeat = true,
                                    .should_stop = should_stop,
                                    .data = self };
    st = fetch_run(&result, self->client, &request, &err);
    FAULT_POINT("webhook-posted");
    /* An answer that is too long is one, too: nothing of its body is read. */
    bool is_received = (st == MCP_OK || st == MCP_E_LIMIT) && result.status >= 200 &&
                       result.status < 300;
    what->failure = is_received || self->is_stopping ? NULL
                                                     : reason_of(what->arena, st, result.status);
    if (!is_received && !self->is_stopping)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING,
                      "webhook %s of %s: event %" PRId64 " was not taken: %s", what->id,
                      what->workspace, of->seq,
                      st == MCP_OK ? "the receiver has refused it" : err.message);
    fetch_result_clear(&result);
    return is_received;
}

/* The delay before the next try. */
static int64_t delay_of(const portarium_pump *self, int64_t failures)
{
    int64_t delay = self->retry_ms;
    for (int64_t i = 1; i < failures && delay < RETRY_MAX_MS; i++)
        delay *= 2;
    return delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS;
}

/* Deliver for a while. @return the delay before the next try; 0: none is needed */
static int64_t deliver(portarium_pump *self, turn *what, const event *events, size_t count)
{
    int64_t until = mcp_clock_mono_ms() + TURN_MS;
    for (size_t i = 0; i < count && mcp_clock_mono_ms() < until; i++) {
        if (self->is_stopping)
            return 0;
        if (is_wanted(what, &events[i]) && !post(self, what, &events[i])) {
            what->failures++;
            return delay_of(self, what->failures);
        }
        what->failures = 0;
        what->delivered = events[i].seq;
    }
    return 0;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Run one of the three transactions of a turn. */
static mcp_status end(db_session *session, mcp_status status, mcp_error *err)
{
    if (status == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return status;
}

static mcp_status take_turn(portarium_pump *self, mcp_arena *arena, bool *found, mcp_error *err)
{
    turn what = { .arena = arena };
    db_session *session = NULL;
    size_t count = 0;
    event *events = mcp_arena_array(arena, BATCH, sizeof *events);
    *found = false;
    if (!events)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for events");
    mcp_status st = db_begin(&session, self->database, DB_WRITE, err);
    if (st != MCP_OK)
        return st;
    st = take(self, session, &what, found, err);
    if (st == MCP_OK && *found)
        st = read_events(events, &count, &what, session, err);
    st = end(session, st, err);
    if (st != MCP_OK || !*found)
        return st;
    FAULT_POINT("webhook-taken");
    int64_t delay_ms = deliver(self, &what, events, count);
    st = db_begin(&session, self->database, DB_WRITE, err);
    return st == MCP_OK ? end(session, give_back(&what, session, delay_ms, err), err) : st;
}

/* @return whether there may be more to do at once */
static bool work(portarium_pump *self)
{
    mcp_error err = MCP_ERROR_INIT;
    bool found = false;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    mcp_status st = arena ? take_turn(self, arena, &found, &err) : MCP_E_NOMEM;
    if (st != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "webhooks: %s", err.message);
    mcp_arena_free(arena);
    return st == MCP_OK && found;
}

static void run(void *data)
{
    deliverer *own = data;
    thread_worker *worker = &own->worker;
    portarium_pump *self = own->pump;
    pthread_mutex_lock(&self->lock);
    while (!worker->is_stopping) {
        pthread_mutex_unlock(&self->lock);
        bool more = work(self);
        pthread_mutex_lock(&self->lock);
        if (!more && !worker->is_stopping)
            thread_worker_wait(worker, POLL_MS);
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- the pump -------------------------------------------------------------------------------- */

mcp_status portarium_pump_new(portarium_pump **out, db *database,
                              const portarium_settings *settings,
                              const portarium_pump_options *options, mcp_error *err)
{
    portarium_pump *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for webhooks");
    const fetch_options how = { .egress = options->egress,
                                .egress_count = options->egress_count,
                                .ca_file = options->ca_file };
    self->database = database;
    self->settings = settings;
    self->retry_ms = options->retry_ms > 0 ? options->retry_ms : RETRY_MS;
    pthread_mutex_init(&self->lock, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        self->threads[i].pump = self;
        thread_worker_init(&self->threads[i].worker, &self->lock);
    }
    mcp_status st = fetch_egress_new(&self->egress, options->egress, options->egress_count, err);
    if (st == MCP_OK)
        st = fetch_open(&self->client, &how, err);
    for (size_t i = 0; st == MCP_OK && i < THREADS; i++)
        st = thread_worker_start(&self->threads[i].worker, run, &self->threads[i], err);
    if (st != MCP_OK) {
        portarium_pump_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_pump_free(portarium_pump *self)
{
    if (!self)
        return;
    self->is_stopping = true;
    for (size_t i = 0; i < THREADS; i++)
        thread_worker_stop(&self->threads[i].worker);
    fetch_close(self->client);
    fetch_egress_free(self->egress);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void portarium_pump_wake(portarium_pump *self)
{
    if (!self)
        return;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; i < THREADS; i++)
        thread_worker_wake(&self->threads[i].worker);
    pthread_mutex_unlock(&self->lock);
}

mcp_status portarium_pump_judge(const portarium_pump *self, const char *url,
                                portarium_fields *fields, mcp_error *err)
{
    fetch_url parts;
    mcp_status st = fetch_url_read(&parts, url, err);
    if (st == MCP_OK && !self)
        st = mcp_error_set(err, MCP_E_DENIED, "this server delivers to no host");
    if (st == MCP_OK)
        st = fetch_egress_check_url(self->egress, &parts, err);
    if (st == MCP_OK)
        return MCP_OK;
    portarium_fields_add(fields, "/url", "%s", err->message);
    return portarium_fields_status(fields, err);
}

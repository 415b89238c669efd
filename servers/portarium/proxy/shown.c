/*
 * shown.c - names that the plane has judged, sorted.
 */
#include "proxy/shown.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "model/identity.h"

/* A request has at most NAMES_MAX names. */
enum { NAMES_MAX = 1000, ARENA_MAX = 64 << 20, BODY_MAX = 1 << 20, PLANE_MS = 10000 };

/* An answer. */
typedef struct answer {
    mcp_arena *arena;
    const char **names;
    size_t count;
} answer;

struct portarium_shown {
    const portarium_app *app;
    const char *workspace;
    pthread_mutex_t lock; /* of the answer */
    answer now;
};

mcp_status portarium_shown_new(portarium_shown **out, const portarium_app *app,
                               const char *workspace, mcp_error *err)
{
    portarium_shown *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the exposure of tools");
    self->app = app;
    self->workspace = workspace;
    pthread_mutex_init(&self->lock, NULL);
    *out = self;
    return MCP_OK;
}

void portarium_shown_free(portarium_shown *self)
{
    if (!self)
        return;
    mcp_arena_free(self->now.arena);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static mcp_status write_names(const mcp_json **out, const char *const *names, size_t count,
                              mcp_arena *arena, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, BODY_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "tools");
    for (size_t i = 0; i < count; i++)
        mcp_write_string(&json, names[i]);
    mcp_write_end(&json);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    st = st == MCP_OK ? mcp_json_read(out, arena, text.data, text.length, err)
                      : mcp_error_set(err, st, "the names of tools cannot be sent");
    mcp_buf_clear(&text);
    return st;
}

/* Names of one request that are shown. */
static mcp_status ask(answer *out, const portarium_shown *self, const char *const *names,
                      size_t count, const portarium_client_call *call, mcp_error *err)
{
    const mcp_json *body = NULL, *said = NULL;
    portarium_reply reply = { .status = 0 };
    mcp_status st = write_names(&body, names, count, out->arena, err);
    if (st != MCP_OK)
        return st;
    const portarium_request request = { .actor = &self->app->local,
                                        .workspace = self->workspace,
                                        .arguments = call->arguments,
                                        .body = body,
                                        .correlation_id = call->correlation_id };
    self->app->client.send(self->app->client.data, portarium_operation_find("judgeTools"), &request,
                           call, &reply);
    if (reply.status >= 400)
        return mcp_error_set(err, reply.status < 500 ? MCP_E_DENIED : MCP_E_IO,
                             "the control plane does not say which tools are shown: %s",
                             reply.detail ? reply.detail : portarium_client_failed);
    st = mcp_json_read(&said, out->arena, reply.text, reply.length, err);
    const mcp_json *shown = mcp_json_get(said, "tools");
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(shown) && i < count; i++) {
        const char *name = mcp_json_string(mcp_json_item(shown, i), NULL);
        if (name)
            out->names[out->count++] = name;
    }
    return st;
}

static int compare(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static mcp_status ask_all(answer *out, const portarium_shown *self, const char *const *names,
                          size_t count, bool (*should_stop)(void *data), void *data, mcp_error *err)
{
    portarium_client_call call = { .actor = &self->app->local,
                                   .should_stop = should_stop,
                                   .stop_data = data,
                                   .arena = out->arena };
    out->names = mcp_arena_array(out->arena, count + 1, sizeof *out->names);
    mcp_status st = out->names ? mcp_json_read(&call.arguments, out->arena, "{}", 2, err)
                               : mcp_error_set(err, MCP_E_NOMEM, "no memory for names of tools");
    if (st == MCP_OK)
        st = portarium_id_new(&call.correlation_id, "", out->arena, err);
    for (size_t at = 0; st == MCP_OK && at < count; at += NAMES_MAX) {
        call.deadline_mono_ms = mcp_clock_mono_ms() + PLANE_MS;
        st = ask(out, self, names + at, count - at < NAMES_MAX ? count - at : NAMES_MAX, &call,
                 err);
    }
    if (st == MCP_OK && out->count > 0)
        qsort(out->names, out->count, sizeof *out->names, compare);
    return st;
}

mcp_status portarium_shown_judge(portarium_shown *self, const char *const *names, size_t count,
                                 bool (*should_stop)(void *data), void *data, mcp_error *err)
{
    answer fresh = { .arena = mcp_arena_new(ARENA_MAX) };
    if (!fresh.arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for names of tools");
    mcp_status st = ask_all(&fresh, self, names, count, should_stop, data, err);
    if (st == MCP_OK) {
        pthread_mutex_lock(&self->lock);
        answer old = self->now;
        self->now = fresh;
        pthread_mutex_unlock(&self->lock);
        fresh = old;
    }
    mcp_arena_free(fresh.arena);
    return st;
}

bool portarium_shown_has(portarium_shown *self, const char *name)
{
    pthread_mutex_lock(&self->lock);
    bool has = self->now.count > 0 && bsearch(&name, self->now.names, self->now.count,
                                              sizeof *self->now.names, compare) != NULL;
    pthread_mutex_unlock(&self->lock);
    return has;
}

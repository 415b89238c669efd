/*
 * wait.c - looks, waits for a change of what it has seen, and looks again.
 */
#include "gateway/wait.h"

#include <ctype.h>
#include <string.h>

#include "mcp/clock.h"

static mcp_status look_again(mcp_call *call, void *data)
{
    (void)call;
    return portarium_wait_and_answer(data);
}

/* On the thread of the waits. */
static void resume(void *data, jobs_outcome outcome)
{
    portarium_waiting *self = data;
    (void)outcome;
    mcp_call_resume(self->call, look_again, self, 0);
}

static bool is_same(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

/* What wakes the wait: the kind of its events, which is that of the answer in small letters, and
 * the id at the path's end, as in "ws-1/run/run-7", or a star for any. */
static const char *key_of(const portarium_waiting *self)
{
    const portarium_operation *operation = self->operation;
    mcp_arena *arena = mcp_call_arena(self->call);
    const char *last = strrchr(operation->path, '/') + 1;
    const char *id = "*";
    char *kind = mcp_arena_strdup(arena, operation->answer);
    if (!kind)
        return NULL;
    for (char *at = kind; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    if (*last == '{') {
        const char *name = mcp_arena_strndup(arena, last + 1, strlen(last) - 2); /* no braces */
        id = name ? portarium_argument(self->request, name) : NULL;
    }
    if (!id)
        return NULL;
    return mcp_arena_printf(arena, "%s/%s/%s", self->request->workspace, kind, id);
}

/* Whether to answer now: there is nothing to wait for, it has changed, or the time is over. */
static bool is_due(portarium_waiting *self, const portarium_reply *reply)
{
    bool is_news = self->known && reply->etag &&
                   !portarium_etag_matches(self->known, reply->etag, false);
    if (self->seconds == 0 || reply->status >= 400 || !reply->may_change || is_news)
        return true;
    if (self->deadline_ms == 0) {
        self->deadline_ms = mcp_clock_mono_ms() + (int64_t)self->seconds * 1000;
        self->state = reply->state;
    }
    return !is_same(self->state, reply->state) || mcp_clock_mono_ms() >= self->deadline_ms ||
           mcp_call_stop(self->call) != MCP_STOP_NONE;
}

mcp_status portarium_wait_and_answer(portarium_waiting *self)
{
    jobs_waits *waits = portarium_plane_waits(self->app->plane);
    mcp_error *err = mcp_call_error(self->call);
    const char *key = self->seconds > 0 ? key_of(self) : "";
    portarium_reply reply;
    if (!key)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a wait");
    uint64_t mark = jobs_waits_mark(waits, key); /* what changes from here on ends the wait */
    portarium_plane_run(self->app->plane, self->operation, self->request,
                        mcp_call_arena(self->call), &reply);
    if (is_due(self, &reply))
        return self->answer(self->call, self->request, &reply, self->data);
    mcp_status st = jobs_wait(waits, key, mark, self->deadline_ms, resume, self, err);
    return st == MCP_OK ? MCP_E_DEFERRED : st;
}

/*
 * wait.c - looks, waits for a change of what it has seen, and looks again.
 */
#include "gateway/wait.h"

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

/* Whether to answer now: there is nothing to wait for, it has changed, or the time is over. */
static bool is_due(portarium_waiting *self, const portarium_reply *reply)
{
    bool is_news = self->known && reply->etag &&
                   !portarium_etag_matches(self->known, reply->etag, false);
    if (self->seconds == 0 || reply->status >= 400 || !reply->wait_key || is_news)
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
    portarium_reply reply;
    for (;;) {
        const char *key = self->key;
        uint64_t mark = key ? jobs_waits_mark(waits, key) : 0;
        portarium_plane_run(self->app->plane, self->operation, self->request,
                            mcp_call_arena(self->call), &reply);
        if (is_due(self, &reply))
            return self->answer(self->call, self->request, &reply, self->data);
        self->key = reply.wait_key;
        if (!key)
            continue; /* what changes before there is a mark would be missed: look once more */
        mcp_status st = jobs_wait(waits, key, mark, self->deadline_ms, resume, self,
                                  mcp_call_error(self->call));
        return st == MCP_OK ? MCP_E_DEFERRED : st;
    }
}

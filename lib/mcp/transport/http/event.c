/*
 * event.c - a server-sent event as the bytes that go over the wire.
 *
 * It is written once and shared from then on, so a thousand readers cost a thousand pointers. It is
 * reference counted, on any thread; the last release frees it, hence the memory order of the
 * decrement: all earlier uses have happened before.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/transport/http/stream.h"
#include "net/sse.h"

#define EVENT_MAX ((size_t)32 * 1024 * 1024)
#define AROUND ((size_t)64) /* a guess at what stands around the data */

struct mcp_event {
    atomic_uint counts;
    size_t length;
    char *bytes;
};

/* Takes the text. */
static mcp_status wrap(mcp_event **out, mcp_buf *text, mcp_status st, mcp_error *err)
{
    mcp_event *event = st == MCP_OK ? mcp_alloc(sizeof *event) : NULL;

    if (!event) {
        mcp_buf_clear(text);
        if (st == MCP_E_PARAMS)
            return mcp_error_set(err, st,
                                 "an event's id and name, and a comment, are one line each");
        if (st == MCP_E_LIMIT)
            return mcp_error_set(err, st, "an event may have %zu bytes at most", EVENT_MAX);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an event");
    }
    atomic_init(&event->counts, 1);
    event->bytes = mcp_buf_take(text, &event->length);
    *out = event;
    return MCP_OK;
}

mcp_status mcp_event_new(mcp_event **out, const char *id, const char *name, const char *data,
                         size_t length, mcp_error *err)
{
    mcp_buf text;

    mcp_buf_init(&text, EVENT_MAX);
    if (length < EVENT_MAX - AROUND)
        (void)mcp_buf_reserve(&text, length + AROUND);
    return wrap(out, &text, mcp__sse_event(&text, name, id, data ? data : "", data ? length : 0),
                err);
}

mcp_status mcp_event_comment(mcp_event **out, const char *text, mcp_error *err)
{
    mcp_buf line;
    mcp_status st = MCP_E_PARAMS;

    mcp_buf_init(&line, EVENT_MAX);
    if (text && !strpbrk(text, "\r\n"))
        st = mcp_buf_printf(&line, ":%s\n\n", text);
    return wrap(out, &line, st, err);
}

mcp_event *mcp_event_retain(mcp_event *event)
{
    if (event)
        (void)atomic_fetch_add_explicit(&event->counts, 1, memory_order_relaxed);
    return event;
}

void mcp_event_release(mcp_event *event)
{
    if (!event || atomic_fetch_sub_explicit(&event->counts, 1, memory_order_acq_rel) > 1)
        return;
    free(event->bytes);
    free(event);
}

const char *mcp__event_bytes(const mcp_event *event, size_t *length)
{
    *length = event->length;
    return event->bytes;
}

/*
 * catch_up.c - the threads that read the owner's log for readers that come from far behind.
 *
 * A subscriber is lent to such a thread for one page and comes back as mail to the pump. The page
 * goes straight into its stream, so nothing is kept: where the stream is full the page ends, and the
 * next begins behind the last id of which everything was sent. Of an id that was cut in two the
 * events sent already are counted, so that none comes twice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "bus/bus_int.h"

struct bus_page {
    struct bus_subscriber *one;
    int64_t id;     /* of the events at hand; INT64_MIN: none yet */
    unsigned count; /* so many of it were given */
    mcp_status end; /* not MCP_OK: nothing more is taken */
};

static mcp_status pass_on(struct bus_subscriber *one, const bus_event *event)
{
    mcp_event *made = NULL;

    if (!bus_wants(one, event->kind))
        return MCP_OK;
    mcp_status status = bus_encode(&made, event, true, NULL);
    if (status != MCP_OK)
        return status;
    status = one->sink->send(one->stream, made);
    mcp_event_free(made);
    if (status == MCP_OK)
        atomic_fetch_add_explicit(&one->bus->delivered, 1, memory_order_relaxed);
    return status;
}

/* All events of the id at hand were given. */
static void complete(bus_page *page)
{
    if (page->id > page->one->seen)
        page->one->seen = page->id;
}

static void turn_to(bus_page *page, int64_t id)
{
    complete(page);
    page->id = id;
    page->count = 0;
    if (page->one->partial == id)
        return;
    page->one->partial = id;
    page->one->sent = 0;
}

mcp_status bus_page_add(bus_page *page, const bus_event *event)
{
    struct bus_subscriber *one = page->one;

    if (page->end != MCP_OK)
        return page->end;
    if (event->id < page->id)
        page->end = MCP_E_PARAMS; /* ids that fall cannot be put in order any more */
    if (page->end != MCP_OK || event->id <= one->seen)
        return page->end;
    if (event->id != page->id)
        turn_to(page, event->id);
    if (++page->count <= one->sent)
        return MCP_OK;
    page->end = pass_on(one, event);
    if (page->end == MCP_OK)
        one->sent = page->count;
    return page->end;
}

/* One page; how it ended stays in the subscriber. */
static void read_page(struct bus_subscriber *one)
{
    const bus_options *options = &one->bus->options;
    bus_page page = { .one = one, .id = INT64_MIN };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status status = options->catch_up(one->topic->name, one->seen, &page, options->data, &err);

    if (page.end != MCP_OK)
        status = page.end;
    if (status == MCP_OK)
        complete(&page);
    if (status != MCP_OK && status != MCP_E_LIMIT && status != MCP_E_NOT_FOUND &&
        status != MCP_E_STOPPED)
        mcp_log_write(&options->log, MCP_LOG_WARNING,
                      "the events behind %" PRId64 " could not be read: %s", one->seen,
                      err.message[0] ? err.message : mcp_status_words(status));
    one->page = status;
}

void *bus_catch_up_thread(void *data)
{
    struct bus *self = data;

    pthread_mutex_lock(&self->lock);
    while (!self->is_ending) {
        struct bus_subscriber *one = self->away;
        if (!one) {
            pthread_cond_wait(&self->catch_up_woken, &self->lock);
            continue;
        }
        self->away = one->next_away;
        if (!self->away)
            self->last_away = &self->away;
        pthread_mutex_unlock(&self->lock);
        read_page(one);
        bus_drop_mail(one, BUS_MAIL_BACK);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

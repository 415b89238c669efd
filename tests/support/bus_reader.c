/*
 * bus_reader.c - a stream that a test empties by hand.
 */
#include "bus_reader.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bus/bus_int.h"
#include "mcp/transport/http/stream.h"

enum { WINDOW_MAX = 256, WAIT_ROUNDS = 60000 };

struct bus_reader {
    pthread_mutex_t lock;
    int counts; /* the test's and the bus's */
    struct bus_subscriber *one;
    mcp_event *queue[WINDOW_MAX];
    int window, first, count;
    bool was_full;
    bool is_closing;
    bool is_over;
};

static void nap(void)
{
    struct timespec millisecond = { .tv_nsec = 1000000 };

    nanosleep(&millisecond, NULL);
}

static void give_back(bus_reader *self)
{
    pthread_mutex_lock(&self->lock);
    int left = --self->counts;
    pthread_mutex_unlock(&self->lock);
    if (left > 0)
        return;
    for (; self->count > 0; self->count--, self->first = (self->first + 1) % self->window)
        mcp_event_release(self->queue[self->first]);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static mcp_status send(void *stream, mcp_event *event)
{
    bus_reader *self = stream;
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&self->lock);
    if (self->is_closing || self->is_over)
        st = MCP_E_STOPPED;
    else if (self->count == self->window)
        st = MCP_E_LIMIT;
    else
        self->queue[(self->first + self->count++) % self->window] = mcp_event_retain(event);
    self->was_full = self->was_full || st == MCP_E_LIMIT;
    pthread_mutex_unlock(&self->lock);
    return st;
}

static void close_reader(void *stream)
{
    bus_reader *self = stream;

    pthread_mutex_lock(&self->lock);
    self->is_closing = true;
    pthread_mutex_unlock(&self->lock);
}

static void free_reader(void *stream)
{
    give_back(stream);
}

static const struct bus_output sink = { send, close_reader, free_reader };

bus_reader *bus_reader_try(bus *bus, const char *topic, const bus_subscription *how, int window,
                           mcp_status *status)
{
    static const bus_subscription standard;
    bus_reader *self = calloc(1, sizeof *self);

    assert_non_null(self);
    assert_true(window <= WINDOW_MAX);
    pthread_mutex_init(&self->lock, NULL);
    self->window = window;
    self->counts = 2;
    *status = bus_attach(&self->one, bus, topic, how ? how : &standard, NULL);
    if (*status == MCP_OK) {
        bus_begin(self->one, &sink, self);
        return self;
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
    return NULL;
}

bus_reader *bus_reader_new(bus *bus, const char *topic, const bus_subscription *how, int window)
{
    mcp_status st = MCP_OK;
    bus_reader *self = bus_reader_try(bus, topic, how, window, &st);

    assert_int_equal(st, MCP_OK);
    return self;
}

/* The value of a field of the event, as "id: 7\n" has it. */
static void read_field(char *out, size_t size, const char *bytes, const char *field)
{
    size_t length = strlen(field);

    out[0] = '\0';
    for (const char *line = bytes; *line; line += strcspn(line, "\n") + 1)
        if (strncmp(line, field, length) == 0)
            snprintf(out, size, "%.*s", (int)strcspn(line + length, "\n"), line + length);
}

static void read_event(bus_taken *out, const mcp_event *event)
{
    size_t length = 0;
    const char *bytes = mcp__event_bytes(event, &length);
    char text[4096];
    char id[32];

    assert_true(length < sizeof text);
    memcpy(text, bytes, length);
    text[length] = '\0';
    read_field(id, sizeof id, text, "id: ");
    read_field(out->name, sizeof out->name, text, "event: ");
    read_field(out->data, sizeof out->data, text, "data: ");
    out->id = id[0] ? strtoll(id, NULL, 10) : -1;
}

/* What the stream has to tell when it is empty: the bit of mail, or 0. Under the lock. */
static unsigned mail_of_empty(bus_reader *self)
{
    if (self->count > 0 || self->is_over)
        return 0;
    if (self->is_closing) {
        self->is_over = true;
        return BUS_READER_CLOSED;
    }
    if (!self->was_full)
        return 0;
    self->was_full = false;
    return BUS_READER_DRAINED;
}

bool bus_reader_take(bus_reader *self, bus_taken *out)
{
    mcp_event *event = NULL;

    pthread_mutex_lock(&self->lock);
    if (self->count > 0) {
        event = self->queue[self->first];
        self->first = (self->first + 1) % self->window;
        self->count--;
    }
    unsigned mail = mail_of_empty(self);
    pthread_mutex_unlock(&self->lock);
    if (event)
        read_event(out, event);
    mcp_event_release(event);
    if (mail)
        bus_post_event(self->one, mail);
    return event != NULL;
}

void bus_reader_next(bus_reader *self, bus_taken *out)
{
    for (int i = 0; i < WAIT_ROUNDS; i++) {
        if (bus_reader_take(self, out))
            return;
        nap();
    }
    fail_msg("no event came");
}

bool bus_reader_is_over(bus_reader *self, bool waits)
{
    bus_taken ignored;
    bool is_over = false;

    for (int i = 0; i < WAIT_ROUNDS; i++) {
        assert_false(bus_reader_take(self, &ignored));
        pthread_mutex_lock(&self->lock);
        is_over = self->is_over;
        pthread_mutex_unlock(&self->lock);
        if (is_over || !waits)
            break;
        nap();
    }
    return is_over;
}

int bus_reader_waiting(bus_reader *self)
{
    pthread_mutex_lock(&self->lock);
    int count = self->count;
    pthread_mutex_unlock(&self->lock);
    return count;
}

void bus_reader_end(bus_reader *self)
{
    pthread_mutex_lock(&self->lock);
    bool was_over = self->is_over;
    self->is_over = true;
    pthread_mutex_unlock(&self->lock);
    if (!was_over)
        bus_post_event(self->one, BUS_READER_CLOSED);
    give_back(self);
}

/*
 * site.c - a handler that does what its path says.
 */
#include "site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mcp/clock.h"

static const mcp__http_field_out text_fields[] = { { "Content-Type", "text/plain" } };
static const mcp__http_field_out event_fields[] = {
    { "Content-Type", "text/event-stream" },
    { "Cache-Control", "no-cache, no-transform" },
    { "X-Left-Out", NULL },
};

static void say(mcp__http_exchange *exchange, int status, const char *body, size_t length)
{
    mcp__http_head_out head = { .status = status, .fields = text_fields, .count = 1 };

    assert_int_equal(mcp__http_reply(exchange, &head, body, length, NULL), MCP_OK);
}

static void say_facts(mcp__http_exchange *exchange)
{
    mcp__http_head_out head = { .status = 200, .fields = text_fields, .count = 1 };
    const char *name = NULL;
    const char *value = NULL;
    size_t path_length = 0;
    const char *path = mcp__http_path(exchange, &path_length);
    const char *query = mcp__http_query(exchange);
    mcp_buf out;

    mcp_buf_init(&out, 1 << 20);
    mcp_buf_printf(&out, "method=%s\ntarget=%s\npath=%.*s\nquery=%s\nminor=%d\ntls=%d\nunix=%d\n",
                   mcp__http_method(exchange), mcp__http_target(exchange), (int)path_length, path,
                   query ? query : "(none)", mcp__http_minor(exchange), mcp__http_is_tls(exchange),
                   mcp__http_is_unix(exchange));
    mcp_buf_printf(&out, "hosts=%zu\n", mcp__http_field_count(exchange, "hOsT"));
    for (size_t i = 0; mcp__http_field_at(exchange, i, &name, &value); i++)
        mcp_buf_printf(&out, "[%s]=[%s]\n", name, value);
    assert_int_equal(mcp__http_reply_buf(exchange, &head, &out, NULL), MCP_OK);
}

static void echo(mcp__http_exchange *exchange)
{
    mcp__http_head_out head = { .status = 200, .fields = text_fields, .count = 1 };
    mcp_buf body;

    mcp_buf_init(&body, 64 << 20);
    assert_int_equal(mcp__http_body_take(exchange, &body, NULL), MCP_OK);
    assert_int_equal(mcp__http_reply_buf(exchange, &head, &body, NULL), MCP_OK);
}

static void say_bytes(mcp__http_exchange *exchange, size_t count)
{
    mcp__http_head_out head = { .status = 200, .fields = text_fields, .count = 1 };
    mcp_buf body;

    mcp_buf_init(&body, 64 << 20);
    char *room = mcp_buf_reserve(&body, count);
    assert_non_null(room);
    memset(room, 'x', count);
    mcp_buf_commit(&body, count);
    mcp_status st = mcp__http_reply_buf(exchange, &head, &body, NULL);
    assert_true(st == MCP_OK || st == MCP_E_BUSY); /* BUSY: too much waits already */
}

static void say_unfit(mcp__http_exchange *exchange)
{
    static const mcp__http_field_out fields[] = { { "X-Echo", "a\r\nX-Injected: b" } };
    mcp__http_head_out head = { .status = 200, .fields = fields, .count = 1 };

    assert_int_equal(mcp__http_reply(exchange, &head, "x", 1, NULL), MCP_E_PARAMS);
    assert_int_equal(mcp__http_reply(exchange, &head, "x", 1, NULL), MCP_E_STOPPED);
}

static void hold(site *self, mcp__http_exchange *exchange)
{
    int number = atomic_load(&self->holding);

    assert_true(number < SITE_HELD_MAX);
    self->held[number] = exchange;
    mcp__http_set_data(exchange, &self->held[number]);
    atomic_fetch_add(&self->holding, 1);
}

static void begin_stream(site *self, mcp__http_exchange *exchange)
{
    mcp__http_head_out head = { .status = 200, .fields = event_fields, .count = 3 };

    assert_int_equal(mcp__http_begin(exchange, &head, NULL), MCP_OK);
    hold(self, exchange);
}

static bool is_path(mcp__http_exchange *exchange, const char *wanted)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    return length == strlen(wanted) && memcmp(path, wanted, length) == 0;
}

static void on_head(mcp__http_exchange *exchange, void *data)
{
    site *self = data;
    const char *status = mcp__http_field(exchange, "X-Refuse");

    atomic_fetch_add(&self->heads, 1);
    if (status)
        say(exchange, (int)strtol(status, NULL, 10), "refused", 7);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    site *self = data;
    mcp__http_head_out last = { .status = 200, .is_last = true };

    atomic_fetch_add(&self->requests, 1);
    if (is_path(exchange, "/hello"))
        say(exchange, 200, "hello", 5);
    else if (is_path(exchange, "/echo"))
        echo(exchange);
    else if (is_path(exchange, "/facts"))
        say_facts(exchange);
    else if (is_path(exchange, "/hold"))
        hold(self, exchange);
    else if (is_path(exchange, "/stream"))
        begin_stream(self, exchange);
    else if (is_path(exchange, "/last"))
        (void)mcp__http_reply(exchange, &last, "bye", 3, NULL);
    else if (is_path(exchange, "/unfit"))
        say_unfit(exchange);
    else if (strncmp(mcp__http_target(exchange), "/bytes/", 7) == 0)
        say_bytes(exchange, strtoul(mcp__http_target(exchange) + 7, NULL, 10));
    else
        say(exchange, 404, "nothing here", 12);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    site *self = data;
    mcp__http_exchange **place = mcp__http_data(exchange);

    if (place)
        *place = NULL;
    atomic_fetch_add(&self->hung_up, 1);
}

static void on_drained(mcp__http_exchange *exchange, void *data)
{
    site *self = data;

    (void)exchange;
    atomic_fetch_add(&self->drained, 1);
}

void site_init(site *self)
{
    memset(self, 0, sizeof *self);
    self->options.handler = (mcp__http_handler){ .head = on_head,
                                                 .request = on_request,
                                                 .hung_up = on_hung_up,
                                                 .drained = on_drained,
                                                 .data = self };
}

mcp__http_exchange *site_held(site *self, int number)
{
    return self->held[number];
}

void site_wait(atomic_int *counter, int wanted)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;
    struct timespec nap = { .tv_nsec = 1000000 };

    while (atomic_load(counter) < wanted) {
        if (mcp_clock_mono_ms() > deadline_ms)
            fail_msg("it came to %d only, %d are wanted", atomic_load(counter), wanted);
        nanosleep(&nap, NULL);
    }
}

struct deed {
    site *site;
    int number;
    const char *text;
};

static void answer_held(void *data)
{
    struct deed *deed = data;
    mcp__http_exchange *exchange = site_held(deed->site, deed->number);

    assert_non_null(exchange);
    deed->site->held[deed->number] = NULL;
    say(exchange, 200, deed->text, strlen(deed->text));
}

void site_answer(site *self, rig *rig, int number, const char *body)
{
    struct deed deed = { self, number, body };

    rig_call(rig, answer_held, &deed);
}

static void write_held(void *data)
{
    struct deed *deed = data;
    mcp__http_exchange *exchange = site_held(deed->site, deed->number);

    assert_non_null(exchange);
    if (deed->text) {
        assert_int_equal(mcp__http_write(exchange, deed->text, strlen(deed->text), NULL), MCP_OK);
        return;
    }
    deed->site->held[deed->number] = NULL;
    mcp__http_end(exchange);
}

void site_write(site *self, rig *rig, int number, const char *piece)
{
    struct deed deed = { self, number, piece };

    rig_call(rig, write_held, &deed);
}

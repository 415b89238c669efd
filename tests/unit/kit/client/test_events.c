/*
 * test_events.c - streams of events as WHATWG HTML, section 9.2, has them, and their bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/events.h"

enum { EVENT_MAX = 32 };

struct world {
    struct client_events events;
    mcp_buf seen; /* each event and a '|' */
};

static mcp_status keep(void *data, const char *text, size_t length, mcp_error *err)
{
    struct world *world = data;

    if (length == 4 && memcmp(text, "stop", 4) == 0)
        return mcp_error_set(err, MCP_E_STOPPED, "stopped");
    mcp_buf_append(&world->seen, text, length);
    return mcp_buf_putc(&world->seen, '|');
}

static int set_up(void **state)
{
    static struct world world;

    mcp_buf_init(&world.seen, 1 << 16);
    client_events_init(&world.events, EVENT_MAX, keep, &world);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    client_events_clear(&world->events);
    mcp_buf_clear(&world->seen);
    return 0;
}

static mcp_status feed(struct world *world, const char *text)
{
    return client_events_feed(&world->events, text, strlen(text), NULL);
}

static void expect(struct world *world, const char *text, const char *seen)
{
    mcp_buf_reset(&world->seen);
    client_events_restart(&world->events);
    assert_int_equal(feed(world, text), MCP_OK);
    assert_string_equal(world->seen.length ? world->seen.data : "", seen);
}

/* The examples of the section, and what it says of line ends, fields and spaces. */
static void events_are_read(void **state)
{
    struct world *world = *state;

    expect(world, "data: YHOO\ndata: +2\ndata: 10\n\n", "YHOO\n+2\n10|");
    expect(world, "data:test\n\ndata: test\n\ndata:  two\n\n", "test|test| two|");
    expect(world, "data: a\r\n\r\ndata: b\r\rdata: c\n\n", "a|b|c|");
    expect(world, ": comment\n\n:\n\ndata\n\nfield: x\ndata: y\n\n", "y|");
    expect(world,
           "\xef\xbb\xbf"
           "data: marked\n\n",
           "marked|");
    expect(world, "event: other\ndata: x\n\nevent: message\ndata: y\n\nevent\ndata: z\n\n", "y|z|");
    expect(world, "data: unfinished\n", "");
    expect(world, "DATA: x\n data: y\n\n", "");
}

static void pieces_change_nothing(void **state)
{
    struct world *world = *state;
    static const char text[] = "data: a\r\ndata: b\r\n\r\ndata: c\n\n";

    for (size_t i = 0; i < sizeof text - 1; i++)
        assert_int_equal(client_events_feed(&world->events, text + i, 1, NULL), MCP_OK);
    assert_string_equal(world->seen.data, "a\nb|c|");
}

static void ids_and_pauses_are_kept(void **state)
{
    struct world *world = *state;

    assert_int_equal(world->events.retry_ms, -1);
    expect(world, "id: 7-1\nretry: 1500\ndata: \n\n", "");
    assert_string_equal(world->events.id, "7-1");
    assert_int_equal(world->events.retry_ms, 1500);
    expect(world, "retry: 12x\nretry: -1\nretry:\ndata: x\n\n", "x|");
    assert_string_equal(world->events.id, "7-1");
    assert_int_equal(world->events.retry_ms, 1500);
    expect(world, "id\n\n", "");
    assert_string_equal(world->events.id, "");
}

static void events_are_bounded(void **state)
{
    struct world *world = *state;

    assert_int_equal(feed(world, "data: 0123456789012345\ndata: 0123456789012345\n"), MCP_E_LIMIT);
    client_events_restart(&world->events);
    assert_int_equal(feed(world, "x: 01234567890123456789012345678901234567"), MCP_E_LIMIT);
    client_events_restart(&world->events);
    assert_int_equal(feed(world, "data: ok\n\ndata: stop\n\ndata: no\n\n"), MCP_E_STOPPED);
    assert_string_equal(world->seen.data, "ok|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ids_and_pauses_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_are_bounded, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

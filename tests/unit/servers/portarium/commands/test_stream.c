/*
 * Server-sent events as they come: in any pieces, with any ends of lines, as the standard's
 * examples say (WHATWG HTML, section 9.2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/stream.h"

typedef struct heard {
    char text[4096]; /* "id|name|data;" of each event */
    int most;        /* stop after so many; 0: never */
    int count;
} heard;

static mcp_status on_event(void *context, const char *id, const char *name, const char *data,
                           mcp_error *err)
{
    heard *self = context;
    size_t length = strlen(self->text);
    snprintf(self->text + length, sizeof self->text - length, "%s|%s|%s;", id, name, data);
    return ++self->count == self->most ? mcp_error_set(err, MCP_E_STOPPED, "enough") : MCP_OK;
}

static void hears(const char *text, const char *expected)
{
    for (size_t piece = 1; piece <= 7; piece++) {
        heard all = { .count = 0 };
        portarium_stream stream;
        portarium_stream_init(&stream, on_event, &all);
        for (size_t at = 0; at < strlen(text); at += piece) {
            size_t left = strlen(text) - at;
            assert_int_equal(
                portarium_stream_feed(&stream, text + at, left < piece ? left : piece, NULL),
                MCP_OK);
        }
        assert_string_equal(all.text, expected);
        portarium_stream_clear(&stream);
    }
}

static void test_events(void **state)
{
    (void)state;
    hears("id: 1\nevent: RunStarted\ndata: {\"a\":1}\n\n", "1|RunStarted|{\"a\":1};");
    hears("data: first\ndata: second\n\n", "||first\nsecond;");
    hears("data:no space\n\ndata:  two\n\n", "||no space;|| two;");
    hears("id: 7\ndata: a\n\ndata: b\n\n", "7||a;7||b;"); /* the id stays, the name does not */
    hears("event: x\ndata: a\n\ndata: b\n\n", "|x|a;||b;");
    hears("id: 1\r\ndata: a\r\n\r\nid: 2\rdata: b\r\r", "1||a;2||b;");
}

static void test_what_is_no_event(void **state)
{
    (void)state;
    hears(": keepalive\n\nretry: 2000\n\n", "");
    hears("event: nothing\n\ndata: a\n\n", "||a;");
    hears("data: unfinished\n", "");
    hears("other: x\ndata: a\n\n", "||a;");
}

static void test_a_new_connection_keeps_the_id(void **state)
{
    static const char begun[] = "id: 4\ndata: a\n\nid: 5\ndata: hal", next[] = "data: b\n\n";
    heard all = { .count = 0 };
    portarium_stream stream;
    (void)state;
    portarium_stream_init(&stream, on_event, &all);
    portarium_stream_feed(&stream, begun, sizeof begun - 1, NULL);
    portarium_stream_restart(&stream);
    assert_string_equal(stream.id, "4"); /* the event of 5 was never told */
    portarium_stream_feed(&stream, next, sizeof next - 1, NULL);
    assert_string_equal(all.text, "4||a;4||b;");
    portarium_stream_clear(&stream);
}

static void test_an_event_has_a_mebibyte(void **state)
{
    static const char two[] = "data: a\n\ndata: b\n\n";
    heard all = { .most = 1 };
    portarium_stream stream;
    mcp_status st = MCP_OK;
    (void)state;
    portarium_stream_init(&stream, on_event, &all);
    assert_int_equal(portarium_stream_feed(&stream, two, sizeof two - 1, NULL), MCP_E_STOPPED);
    assert_string_equal(all.text, "||a;");
    portarium_stream_restart(&stream);
    for (int i = 0; st == MCP_OK && i < 300000; i++)
        st = portarium_stream_feed(&stream, "xxxxxxxx", 8, NULL);
    assert_int_equal(st, MCP_E_LIMIT);
    portarium_stream_clear(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_what_is_no_event),
        cmocka_unit_test(test_a_new_connection_keeps_the_id),
        cmocka_unit_test(test_an_event_has_a_mebibyte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

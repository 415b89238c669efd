/*
 * test_stream_event.c - events as the WHATWG's section 9.2.6 reads them, shared by counting.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/http/stream.h"
#include "oom.h"

/* Takes the event. */
static void is(mcp_event *event, const char *wanted)
{
    size_t length = 0;
    const char *bytes = mcp__event_bytes(event, &length);

    assert_int_equal(length, strlen(wanted));
    assert_memory_equal(bytes, wanted, length);
    mcp_event_release(event);
}

static mcp_event *make(const char *id, const char *name, const char *data)
{
    mcp_event *event = NULL;

    assert_int_equal(mcp_event_new(&event, id, name, data, data ? strlen(data) : 0, NULL), MCP_OK);
    return event;
}

static void an_event_is_its_fields_and_an_empty_line(void **state)
{
    (void)state;
    is(make("7", "command", "{\"a\":1}"), "id: 7\nevent: command\ndata: {\"a\":1}\n\n");
    is(make(NULL, NULL, "x"), "data: x\n\n");
    is(make(NULL, "ping", NULL), "event: ping\ndata: \n\n");
    is(make(NULL, NULL, "a\nb\r\nc\rid: forged"),
       "data: a\ndata: b\ndata: c\ndata: id: forged\n\n");
}

static void a_comment_is_one_line(void **state)
{
    mcp_event *event = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp_event_comment(&event, "connected", NULL), MCP_OK);
    is(event, ":connected\n\n");
    event = NULL;
    assert_int_equal(mcp_event_comment(&event, "a\ndata: forged", &err), MCP_E_PARAMS);
    assert_null(event);
    assert_int_equal(err.status, MCP_E_PARAMS);
}

static void what_would_forge_a_field_is_refused(void **state)
{
    static const char *const bad[] = { "a\nb", "a\rb", "\r\n" };
    mcp_event *event = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(mcp_event_new(&event, bad[i], NULL, "x", 1, &err), MCP_E_PARAMS);
        assert_int_equal(mcp_event_new(&event, NULL, bad[i], "x", 1, NULL), MCP_E_PARAMS);
    }
    assert_null(event);
    assert_non_null(strstr(err.message, "one line"));
}

static void an_event_has_a_largest_size(void **state)
{
    size_t length = (size_t)33 * 1024 * 1024;
    char *data = malloc(length);
    mcp_event *event = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_non_null(data);
    memset(data, 'x', length);
    assert_int_equal(mcp_event_new(&event, NULL, NULL, data, length, &err), MCP_E_LIMIT);
    const size_t most = (size_t)32 * 1024 * 1024 - strlen("data: \n\n");
    for (size_t fits = most - 1; fits <= most; fits++) {
        assert_int_equal(mcp_event_new(&event, NULL, NULL, data, fits, NULL), MCP_OK);
        mcp_event_release(event);
    }
    event = NULL;
    assert_int_equal(mcp_event_new(&event, NULL, NULL, data, most + 1, NULL), MCP_E_LIMIT);
    memset(data, '\n', length); /* "data: \n" for each */
    event = NULL;
    assert_int_equal(mcp_event_new(&event, NULL, NULL, data, length / 4, &err), MCP_E_LIMIT);
    assert_null(event);
    free(data);
}

static void *keep_and_free(void *data)
{
    for (int i = 0; i < 10000; i++)
        mcp_event_release(mcp_event_retain(data));
    mcp_event_release(data);
    return NULL;
}

static void any_thread_keeps_and_frees(void **state)
{
    mcp_event *event = make(NULL, NULL, "shared");
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_and_free, mcp_event_retain(event)),
                         0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    is(event, "data: shared\n\n");
    mcp_event_release(NULL);
}

static mcp_status make_both(void *data)
{
    mcp_event *event = NULL;
    mcp_event *comment = NULL;

    (void)data;
    mcp_status st = mcp_event_new(&event, "1", "long",
                                  "line\nline\nline\nline\nline\nline\nline\nline"
                                  "\nline\nline\nline\nline\nline\nline\nline",
                                  74, NULL);
    if (st == MCP_OK)
        st = mcp_event_comment(&comment, "hello", NULL);
    mcp_event_release(event);
    mcp_event_release(comment);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(make_both, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_its_fields_and_an_empty_line),
        cmocka_unit_test(a_comment_is_one_line),
        cmocka_unit_test(what_would_forge_a_field_is_refused),
        cmocka_unit_test(an_event_has_a_largest_size),
        cmocka_unit_test(any_thread_keeps_and_frees),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

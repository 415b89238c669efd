/*
 * test_sse.c - events as the WHATWG's section 9.2.6 reads them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/sse.h"

static mcp_buf out;

static int set_up(void **state)
{
    (void)state;
    mcp_buf_init(&out, 1000);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_buf_clear(&out);
    return 0;
}

static void is(const char *wanted)
{
    assert_string_equal(out.data ? out.data : "", wanted);
    mcp_buf_reset(&out);
}

static void events(void **state)
{
    (void)state;
    assert_int_equal(mcp__sse_event(&out, "message", NULL, "{}", 2), MCP_OK);
    is("event: message\ndata: {}\n\n");
    assert_int_equal(mcp__sse_event(&out, "message", "s1/42", "{}", 2), MCP_OK);
    is("id: s1/42\nevent: message\ndata: {}\n\n");
    assert_int_equal(mcp__sse_event(&out, NULL, "", "", 0), MCP_OK);
    is("id: \ndata: \n\n");
    assert_int_equal(mcp__sse_priming(&out, "7"), MCP_OK);
    is("id: 7\ndata: \n\n");
}

static void each_kind_of_line_end_cuts_data(void **state)
{
    (void)state;
    mcp__sse_event(&out, NULL, NULL, "a\nb\rc\r\nd", 8);
    is("data: a\ndata: b\ndata: c\ndata: d\n\n");
    mcp__sse_event(&out, NULL, NULL, "a\n", 2);
    is("data: a\ndata: \n\n");
    mcp__sse_event(&out, NULL, NULL, "\r\n\r", 3);
    is("data: \ndata: \ndata: \n\n");
    mcp__sse_event(&out, NULL, NULL, "a\revent: forged", 15);
    is("data: a\ndata: event: forged\n\n");
}

static void one_line_fields_stay_one_line(void **state)
{
    (void)state;
    assert_int_equal(mcp__sse_event(&out, "a\nb", NULL, "x", 1), MCP_E_PARAMS);
    assert_int_equal(mcp__sse_event(&out, NULL, "a\rb", "x", 1), MCP_E_PARAMS);
    assert_int_equal(mcp__sse_comment(&out, "a\nb"), MCP_E_PARAMS);
    is("");
}

static void comments_and_retry(void **state)
{
    (void)state;
    assert_int_equal(mcp__sse_comment(&out, "keepalive"), MCP_OK);
    is(": keepalive\n\n");
    assert_int_equal(mcp__sse_retry(&out, 3000), MCP_OK);
    is("retry: 3000\n\n");
    assert_int_equal(mcp__sse_retry(&out, -5), MCP_OK);
    is("retry: 0\n\n");
}

static void the_buffer_s_bound_is_reported(void **state)
{
    static char large[2000];

    (void)state;
    memset(large, 'x', sizeof large);
    assert_int_equal(mcp__sse_event(&out, NULL, NULL, large, sizeof large), MCP_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_kind_of_line_end_cuts_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_line_fields_stay_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(comments_and_retry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_buffer_s_bound_is_reported, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("server-sent events", tests, NULL, NULL);
}

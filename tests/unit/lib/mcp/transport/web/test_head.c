/*
 * test_head.c - fields of an answer: in their order, absent ones left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/web/head.h"

static void expect(const mcp__head *head, const char *wanted)
{
    mcp__http_head_out out = mcp__head_out(head, 207);
    char text[1000] = "";

    assert_int_equal(out.status, 207);
    for (size_t i = 0; i < out.count; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s: %s\n",
                       out.fields[i].name, out.fields[i].value);
    assert_string_equal(text, wanted);
}

static void fields_keep_their_order(void **state)
{
    mcp__head head = { .count = 0 };

    (void)state;
    expect(&head, "");
    mcp__head_add(&head, "B", "2");
    mcp__head_add(&head, "Absent", NULL);
    mcp__head_add(&head, "A", "");
    expect(&head, "B: 2\nA: \n");
}

/* A page may read the session's id and the challenge; caches must not give its answer to another page. */
static void an_answer_is_shared_with_one_origin_or_none(void **state)
{
    mcp__head head = { .count = 0 };

    (void)state;
    mcp__head_share(&head, NULL);
    expect(&head, "");
    mcp__head_share(&head, "https://app.example");
    expect(&head, "Access-Control-Allow-Origin: https://app.example\n"
                  "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate\n"
                  "Vary: Origin\n");
}

static void a_stream_is_kept_by_nobody_between(void **state)
{
    mcp__head head = { .count = 0 };

    (void)state;
    mcp__head_events(&head);
    expect(&head, "Content-Type: text/event-stream\n"
                  "Cache-Control: no-cache, no-transform\n"
                  "X-Accel-Buffering: no\n");
}

/* The fullest answer that there is fits. */
static void there_is_room_for_all(void **state)
{
    mcp__head head = { .count = 0 };

    (void)state;
    mcp__head_events(&head);
    mcp__head_add(&head, "Mcp-Session-Id", "1");
    mcp__head_share(&head, "https://app.example");
    mcp__head_add(&head, "WWW-Authenticate", "Bearer");
    mcp__head_add(&head, "Allow", "GET");
    assert_true(mcp__head_out(&head, 200).count <= MCP__HEAD_FIELDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_keep_their_order),
        cmocka_unit_test(an_answer_is_shared_with_one_origin_or_none),
        cmocka_unit_test(a_stream_is_kept_by_nobody_between),
        cmocka_unit_test(there_is_room_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

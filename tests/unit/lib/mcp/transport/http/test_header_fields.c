/*
 * test_header_fields.c - Accept and Content-Type (RFC 9110), and the fields of an answer in their
 * order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/http/header_fields.h"

static void accept_is_read_with_its_weights(void **state)
{
    static const struct {
        const char *value;
        bool json, events;
    } rows[] = {
        { "application/json, text/event-stream", true, true },
        { "text/event-stream", false, true },
        { "APPLICATION/JSON", true, false },
        { "*/*", true, true },
        { "application/*;q=0.5", true, false },
        { "text/*", false, true },
        { "application/json;q=0", false, false },
        { "application/json; q=0.000, */*;q=0.1", true, true },
        { "application/json;version=\"a,b;q=0\", text/html", true, false },
        { "text/html", false, false },
        { "application/jsonx", false, false },
        { ",, ,application/json,", true, false },
        { "", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp__accepted accepted = { .json = false };
        mcp__field_accept(&accepted, rows[i].value);
        if (accepted.json != rows[i].json || accepted.events != rows[i].events)
            fail_msg("row %zu", i);
    }
}

static void types_ignore_parameters_and_case(void **state)
{
    (void)state;
    assert_true(mcp__field_is_type("application/json", "application/json"));
    assert_true(mcp__field_is_type("Application/JSON ; charset=utf-8", "application/json"));
    assert_false(mcp__field_is_type("application/json5", "application/json"));
    assert_false(mcp__field_is_type("", "application/json"));
    assert_false(mcp__field_is_type("application/json, text/plain", "application/json"));
}

static void json_is_its_type_and_types_with_its_suffix(void **state)
{
    static const char *const good[] = { "application/json", "Application/JSON; charset=utf-8",
                                        "application/geo+json", " application/ld+JSON ;a=b" };
    static const char *const bad[] = { "",          "text/plain",
                                       "text/json", "application/json5",
                                       "+json",     "application/+json",
                                       "a+json",    "text/plain;a=b/c+json" };

    (void)state;
    assert_false(mcp__field_is_json(NULL));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mcp__field_is_json(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mcp__field_is_json(bad[i]));
}

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

/* A page may read the session's id and the challenge; caches must not give its answer to another
 * page. */
static void an_answer_is_shared_with_one_origin_or_none(void **state)
{
    mcp__head head = { .count = 0 };

    (void)state;
    mcp__head_share(&head, NULL, MCP__EXPOSED);
    expect(&head, "");
    mcp__head_share(&head, "https://app.example", MCP__EXPOSED);
    expect(&head, "Access-Control-Allow-Origin: https://app.example\n"
                  "Access-Control-Expose-Headers: Mcp-Session-Id, WWW-Authenticate\n"
                  "Cross-Origin-Resource-Policy: cross-origin\n"
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
    mcp__head_share(&head, "https://app.example", MCP__EXPOSED);
    mcp__head_add(&head, "WWW-Authenticate", "Bearer");
    mcp__head_add(&head, "Allow", "GET");
    assert_true(mcp__head_out(&head, 200).count <= MCP__HEAD_FIELDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accept_is_read_with_its_weights),
        cmocka_unit_test(types_ignore_parameters_and_case),
        cmocka_unit_test(json_is_its_type_and_types_with_its_suffix),
        cmocka_unit_test(fields_keep_their_order),
        cmocka_unit_test(an_answer_is_shared_with_one_origin_or_none),
        cmocka_unit_test(a_stream_is_kept_by_nobody_between),
        cmocka_unit_test(there_is_room_for_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

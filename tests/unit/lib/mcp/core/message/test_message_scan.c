/*
 * test_message_scan.c - whose id is found in a text that cannot be read, and which escapes are
 * replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/message/message_scan.h"

static void the_id_is_the_member_of_the_message(void **state)
{
    static const struct {
        const char *text;
        const char *id; /* NULL: none is found */
    } rows[] = {
        { "{\"id\":1}", "1" },
        { " {\"a\":{\"id\":2},\"b\":[\"id\",{\"id\":3}],\"id\" : -4 }", "-4" },
        { "{\"id\":\"x\\\"y\",\"z\":1e400}", "\"x\\\"y\"" },
        { "{\"a\":\"id\",\"b\":5}", NULL },
        { "{\"id\":{\"id\":6}}", NULL },
        { "{\"\\u0069d\":7}", NULL },
        { "[{\"id\":8}]", NULL },
        { "{\"id\":9", NULL },
        { "{\"id\":\"", NULL },
        { "\"id\"", NULL },
        { "", NULL },
        { "{", NULL },
        { "{\"id\":1,\"id\":2}", "1" },
    };
    char text[100];
    mcp__message_scan scan;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].text);
        memcpy(text, rows[i].text, length);
        mcp__message_scan_text(&scan, text, length);
        if (!rows[i].id) {
            assert_null(scan.id);
            continue;
        }
        assert_non_null(scan.id);
        assert_int_equal(scan.id_length, strlen(rows[i].id));
        assert_memory_equal(scan.id, rows[i].id, scan.id_length);
    }
}

static void halves_of_pairs_are_replaced_where_people_write(void **state)
{
    static const struct {
        const char *text;
        const char *after; /* NULL: unchanged */
    } rows[] = {
        { "{\"params\":{\"arguments\":{\"a\":[\"\\ud83d\"]}}}",
          "{\"params\":{\"arguments\":{\"a\":[\"\\uFFFD\"]}}}" },
        { "{\"params\":{\"argument\":{\"value\":\"\\uDE00x\"}}}",
          "{\"params\":{\"argument\":{\"value\":\"\\uFFFDx\"}}}" },
        { "{\"params\":{\"inputResponses\":{\"k\":{\"c\":\"\\ud83d\\u0041\"}}}}",
          "{\"params\":{\"inputResponses\":{\"k\":{\"c\":\"\\uFFFD\\u0041\"}}}}" },
        { "{\"result\":{\"content\":{\"a\":\"\\ud83d\"}}}",
          "{\"result\":{\"content\":{\"a\":\"\\uFFFD\"}}}" },
        { "{\"params\":{\"arguments\":{\"a\":\"\\ud83d\\ude00 \\\\ud83d\"}}}", NULL },
        { "{\"params\":{\"name\":\"\\ud83d\"}}", NULL },
        { "{\"params\":{\"_meta\":{\"arguments\":\"\\ud83d\"}}}", NULL },
        { "{\"arguments\":{\"a\":\"\\ud83d\"}}", NULL },
        { "{\"method\":\"\\ud83d\",\"id\":\"\\ud83d\"}", NULL },
        { "{\"params\":{\"arguments\":{\"a\":\"\\ud8", NULL },
        { "{\"params\":{\"arguments\":{\"a\":\"\\", NULL },
    };
    char text[100];
    mcp__message_scan scan;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *after = rows[i].after ? rows[i].after : rows[i].text;
        size_t length = strlen(rows[i].text);
        memcpy(text, rows[i].text, length);
        mcp__message_scan_text(&scan, text, length);
        assert_int_equal(scan.repaired, rows[i].after ? 1 : 0);
        assert_memory_equal(text, after, length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_id_is_the_member_of_the_message),
        cmocka_unit_test(halves_of_pairs_are_replaced_where_people_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

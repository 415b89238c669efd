/*
 * test_scan.c - the scanner refuses exactly what reading refuses, and gives the right reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/json.h"
#include "json/json_int.h"

static void gives_the_reason(void **state)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *word; /* that the reason must hold */
        bool is_of_value;
    } rows[] = {
        { "", 0, "ends too early", false },
        { "[1,2", 4, "ends too early", false },
        { "\"abc", 4, "ends too early", false },
        { "\"a\x01\"", 2, "control character", false },
        { "\"\xFF\"", 1, "UTF-8", false },
        { "\"\\q\"", 2, "escape", false },
        { "\"\\u00x0\"", 5, "hexadecimal", false },
        { "\"\\udc00\"", 1, "second half", true },
        { "\"\\ud800\"", 1, "first half", true },
        { "01", 1, "begin with 0", false },
        { "-x", 1, "digit", false },
        { "[1e999]", 1, "range of a double", true },
        { "[1 2]", 3, "','", false },
        { "{\"a\":1 2}", 7, "'}'", false },
        { "{\"a\" 1}", 5, "':'", false },
        { "{1:2}", 1, "name", false },
        { "[nulx]", 4, "value", false },
        { "1 1", 2, "follows", false },
        { "\xEF\xBB\xBF"
          "1",
          0, "byte order mark", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp__json_fault fault = { .offset = 99 };
        assert_false(mcp__json_scan(rows[i].text, strlen(rows[i].text), &fault));
        assert_int_equal(fault.status, MCP_E_PARSE);
        assert_int_equal(fault.offset, rows[i].offset);
        assert_int_equal(fault.is_of_value, rows[i].is_of_value);
        if (!strstr(fault.reason, rows[i].word))
            fail_msg("%s: %s", rows[i].text, fault.reason);
    }
}

static void too_deep_is_a_limit(void **state)
{
    char text[66];
    mcp__json_fault fault;

    (void)state;
    memset(text, '[', 65);
    assert_false(mcp__json_scan(text, 65, &fault));
    assert_int_equal(fault.status, MCP_E_LIMIT);
    assert_int_equal(fault.offset, 64);
    assert_true(fault.is_of_value);
}

static void must_agree(const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp__json_fault fault = { .reason = "" };
    mcp_status st = mcp_json_read(&value, arena, text, length, &err);

    mcp__json_scan(text, length, &fault);
    if (st != fault.status)
        fail_msg("%.*s: reading says %s, scanning %s", (int)length, text, mcp_status_name(st),
                 fault.reason);
    if (st != MCP_OK)
        assert_int_equal(err.offset, fault.offset);
    mcp_arena_free(arena);
}

static void agrees_with_reading_on_damaged_texts(void **state)
{
    static const char whole[] =
        "{\"a\":[-1.5e+3,0,10,true,false,null,\"\\u00e4\\ud83d\\ude00\\n\xC3\xA4\"],"
        "\"b\":{\"\":[]} }";
    static const char damage[] = "{}[],:\"\\ \n0-1.eEtfnu/+aA\x01\x7F\x80\xC3\xF0";
    char text[sizeof whole];
    size_t length = sizeof whole - 1;

    (void)state;
    for (size_t cut = 0; cut <= length; cut++)
        must_agree(whole, cut);
    for (size_t at = 0; at < length; at++) {
        for (size_t i = 0; i < sizeof damage; i++) { /* NUL too */
            memcpy(text, whole, length);
            text[at] = damage[i];
            must_agree(text, length);
        }
        memcpy(text, whole, at);
        memcpy(text + at, whole + at + 1, length - at - 1);
        must_agree(text, length - 1);
    }
}

static void agrees_with_reading_on_numbers(void **state)
{
    static const char *const texts[] = {
        "0",
        "-0",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551625",
        "99999999999999999999",
        "-9223372036854775808",
        "-9223372036854775809",
        "-18446744073709551615",
        "00",
        "-00",
        "1e308",
        "1e309",
        "-1e309",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "17976931348623157e292",
        "17976931348623159e292",
        "0.00017976931348623157e312",
        "0.00017976931348623159e312",
        "4.9e-324",
        "1e-324",
        "1e-99999",
        "0e99999",
        "0.0e99999",
        "0.000e-99999",
        "1e00000000000001",
        "1e+00000000000000000000000000000001",
        "1e-00000000000000000000000000000001",
        "1e18446744073709551617",
        "1e-18446744073709551617",
        "123456789012345678901234567890.5",
        "0.123456789012345678901234567890",
        "100000000000000000000.0",
        "100000000000000000000e0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        must_agree(texts[i], strlen(texts[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_reason),
        cmocka_unit_test(too_deep_is_a_limit),
        cmocka_unit_test(agrees_with_reading_on_damaged_texts),
        cmocka_unit_test(agrees_with_reading_on_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

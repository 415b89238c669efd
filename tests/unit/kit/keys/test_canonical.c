/*
 * test_canonical.c - RFC 8785: its examples, the numbers of its appendix B, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "keys/canonical.h"
#include "oom.h"

/* The canonical form of a text, in a static buffer; NULL: *st says why there is none. */
static const char *form_of(const char *text, mcp_status *st, mcp_error *err)
{
    static char form[8192];
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_buf out;

    mcp_buf_init(&out, sizeof form - 1);
    *st = mcp_json_read(&value, arena, text, strlen(text), err);
    if (*st == MCP_OK)
        *st = keys_canonical(&out, value, err);
    if (*st == MCP_OK)
        memcpy(form, out.data, out.length + 1);
    mcp_buf_clear(&out);
    mcp_arena_free(arena);
    return *st == MCP_OK ? form : NULL;
}

static void expect(const char *text, const char *form)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st;
    const char *made = form_of(text, &st, &err);

    if (!made)
        fail_msg("%s: %s: %s", text, mcp_status_name(st), err.message);
    assert_string_equal(made, form);
}

static void the_examples_of_the_rfc(void **state)
{
    (void)state;
    /* 3.2.2 and 3.2.4 */
    expect("{\"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],"
           "\"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\","
           "\"literals\": [null, true, false]}",
           "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
           "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    /* 3.2.3 */
    expect(
        "{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\",\"\\ufb33\":\"Hebrew Letter Dalet"
        " With Dagesh\",\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji: Grinning Face\",\"\\u0080\":"
        "\"Control\",\"\\u00f6\":\"Latin Small Letter O With Diaeresis\"}",
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\",\"\xc3\xb6\":"
        "\"Latin Small Letter O With Diaeresis\",\"\xe2\x82\xac\":\"Euro Sign\","
        "\"\xf0\x9f\x98\x80\":\"Emoji: Grinning Face\",\"\xef\xac\xb3\":"
        "\"Hebrew Letter Dalet With Dagesh\"}");
}

static void the_numbers_of_appendix_b(void **state)
{
    static const struct {
        uint64_t bits;
        const char *form;
    } rows[] = {
        { 0x0000000000000000, "0" },
        { 0x8000000000000000, "0" },
        { 0x0000000000000001, "5e-324" },
        { 0x8000000000000001, "-5e-324" },
        { 0x7fefffffffffffff, "1.7976931348623157e+308" },
        { 0xffefffffffffffff, "-1.7976931348623157e+308" },
        { 0x4340000000000000, "9007199254740992" },
        { 0xc340000000000000, "-9007199254740992" },
        { 0x4430000000000000, "295147905179352830000" },
        { 0x44b52d02c7e14af5, "9.999999999999997e+22" },
        { 0x44b52d02c7e14af6, "1e+23" },
        { 0x44b52d02c7e14af7, "1.0000000000000001e+23" },
        { 0x444b1ae4d6e2ef4e, "999999999999999700000" },
        { 0x444b1ae4d6e2ef4f, "999999999999999900000" },
        { 0x444b1ae4d6e2ef50, "1e+21" },
        { 0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7" },
        { 0x3eb0c6f7a0b5ed8d, "0.000001" },
        { 0x41b3de4355555553, "333333333.3333332" },
        { 0x41b3de4355555554, "333333333.33333325" },
        { 0x41b3de4355555555, "333333333.3333333" },
        { 0x41b3de4355555556, "333333333.3333334" },
        { 0x41b3de4355555557, "333333333.33333343" },
        { 0xbecbf647612f3696, "-0.0000033333333333333333" },
        { 0x43143ff3c1cb0959, "1424953923781206.2" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64];
        double number;
        memcpy(&number, &rows[i].bits, sizeof number);
        snprintf(text, sizeof text, "%.17e", number);
        expect(text, rows[i].form);
    }
}

/* As a program in JavaScript prints them. */
static void numbers_as_ecmascript_prints_them(void **state)
{
    (void)state;
    expect("[1,-1,10,100,1.0,-0,-0.0,0.5,-0.25,12.50]", "[1,-1,10,100,1,0,0,0.5,-0.25,12.5]");
    expect("[1e5,1e20,1e21,123e-7,1e-6,1e-7,1.5e-9]",
           "[100000,100000000000000000000,1e+21,0.0000123,0.000001,1e-7,1.5e-9]");
    /* More digits than a shortest form has. */
    expect("[90071992547409936.0,9007199254740994.0,76078219840252192.0,5.684341886080802e-14]",
           "[90071992547409940,9007199254740994,76078219840252200,5.684341886080802e-14]");
    expect("[9007199254740991,9007199254740992,-1152921504606847000,18446744073709552000]",
           "[9007199254740991,9007199254740992,-1152921504606847000,18446744073709552000]");
    expect("[1152921504606846976.0,123456789012345678901]",
           "[1152921504606847000,123456789012345680000]");
}

static void what_is_no_i_json_is_refused(void **state)
{
    static const char *const refused[] = {
        "9007199254740993",
        "-9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        "1152921504606846976",
        "{\"a\":1,\"b\":2,\"a\":1}",
        "[{\"x\":{\"a\":1,\"\\u0061\":2}}]",
        "\"\\uffff\"",
        "{\"\\ufdd0\":1}",
        "\"\\ud83f\\udffe\"",
    };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st;

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_null(form_of(refused[i], &st, &err));
        assert_int_equal(st, MCP_E_PARAMS);
        assert_string_not_equal(err.message, "");
    }
    assert_null(form_of("\"\\ud800\"", &st, &err));
    assert_int_equal(st, MCP_E_PARSE);
    /* Neighbours of the refused ones. */
    expect("\"\\ufdcf\\ufdf0\\ufffd\"", "\"\xef\xb7\x8f\xef\xb7\xb0\xef\xbf\xbd\"");
}

static void names_are_sorted_by_utf16(void **state)
{
    (void)state;
    expect("{\"b\":1,\"a\":2,\"\":3,\"ab\":4,\"a\\u0000\":5}",
           "{\"\":3,\"a\":2,\"a\\u0000\":5,\"ab\":4,\"b\":1}");
    /* U+E000 and U+FFFD after U+10000 and U+10FFFD, U+D7FF before them. */
    expect("{\"\\ufffd\":1,\"\\ue000\":2,\"\\udbff\\udffd\":3,\"\\ud800\\udc00\":4,\"\\ud7ff\":5}",
           "{\"\xed\x9f\xbf\":5,\"\xf0\x90\x80\x80\":4,\"\xf4\x8f\xbf\xbd\":3,\"\xee\x80\x80\":2,"
           "\"\xef\xbf\xbd\":1}");
}

static void many_members_are_sorted(void **state)
{
    char text[2000] = "{", wanted[2000] = "{";

    (void)state;
    for (int i = 0; i < 100; i++) {
        char member[40];
        snprintf(member, sizeof member, "\"n%02d\":%d,", 99 - i, 99 - i);
        strncat(text, member, sizeof text - strlen(text) - 1);
        snprintf(member, sizeof member, "\"n%02d\":%d,", i, i);
        strncat(wanted, member, sizeof wanted - strlen(wanted) - 1);
    }
    text[strlen(text) - 1] = '}';
    wanted[strlen(wanted) - 1] = '}';
    expect(text, wanted);
}

static void members_are_left_out_of_the_outermost_object(void **state)
{
    static const char *const except[] = { "hash", "sig", NULL };
    static const char text[] = "{\"sig\":1,\"z\":{\"hash\":2},\"hash\":3,\"a\":4,\"hashes\":5}";
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 100);
    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    assert_int_equal(keys_canonical_without(&out, value, except, NULL), MCP_OK);
    assert_string_equal(out.data, "{\"a\":4,\"hashes\":5,\"z\":{\"hash\":2}}");
    mcp_buf_clear(&out);
    mcp_buf_init(&out, 10);
    assert_int_equal(keys_canonical(&out, value, NULL), MCP_E_LIMIT);
    mcp_buf_clear(&out);
    mcp_arena_free(arena);
}

/* The digest of the text {"a":1}, by sha256sum. */
static void the_hash_is_of_the_canonical_form(void **state)
{
    static const char digest[] = "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862";
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    uint8_t bytes[MCP_SHA256_SIZE];
    char hex[KEYS_HEX_SIZE];

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, "{ \"a\" : 1.0 }", 13, NULL), MCP_OK);
    assert_int_equal(keys_canonical_hash(hex, value, NULL), MCP_OK);
    assert_string_equal(hex, digest);
    assert_true(keys_unhex(bytes, hex, strlen(hex)));
    assert_int_equal(bytes[0], 0x01);
    assert_int_equal(bytes[31], 0x62);
    assert_false(keys_unhex(bytes, hex, 63));
    assert_false(keys_unhex(bytes, NULL, 64));
    hex[5] = 'A';
    assert_false(keys_unhex(bytes, hex, 64));
    mcp_arena_free(arena);
}

static mcp_status make_once(void *data)
{
    mcp_buf out;

    mcp_buf_init(&out, 4096);
    mcp_status st = keys_canonical(&out, data, NULL);
    mcp_buf_clear(&out);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    static const char text[] =
        "{\"a\":0,\"b\":1.5,\"c\":2,\"d\":\"x\",\"e\":4,\"f\":5,\"g\":6,\"h\":7,\"i\":8,\"j\":9,"
        "\"k\":10,\"l\":11,\"m\":12,\"n\":13,\"o\":14,\"p\":15,\"q\":16,\"r\":17,\"s\":18,"
        "\"t\":19,\"u\":20,\"v\":21,\"w\":22,\"x\":23,\"y\":24,\"z\":[25]}";
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    oom_walk(make_once, (void *)value);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_rfc),
        cmocka_unit_test(the_numbers_of_appendix_b),
        cmocka_unit_test(numbers_as_ecmascript_prints_them),
        cmocka_unit_test(what_is_no_i_json_is_refused),
        cmocka_unit_test(names_are_sorted_by_utf16),
        cmocka_unit_test(many_members_are_sorted),
        cmocka_unit_test(members_are_left_out_of_the_outermost_object),
        cmocka_unit_test(the_hash_is_of_the_canonical_form),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_entry.c - list entries checked, and lowered to a revision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "feature_call.h"
#include "mcp/feature/list/entry.h"

static mcp_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static const mcp_json *parsed(const char *text, size_t length)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, length, NULL), MCP_OK);
    return value;
}

static void test_members_of_the_table_have_their_type(void **state)
{
    static const mcp__member table[] = { { "a", MCP_JSON_STRING }, { "b", MCP_JSON_INT }, { 0 } };
    static const struct {
        const char *entry;
        const char *words; /* NULL: it is right */
    } rows[] = {
        { "{}", NULL },           { "{\"a\":\"x\",\"b\":1,\"c\":null}", NULL },
        { "{\"a\":1}", "'a'" },   { "{\"a\":null}", "'a'" },
        { "{\"b\":1.0}", "'b'" }, { "{\"c\":1,\"c\":2}", "duplicate member 'c'" },
        { "[]", "object" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = mcp__entry_check(parsed(rows[i].entry, strlen(rows[i].entry)), table, &err);
        assert_int_equal(st, rows[i].words ? MCP_E_PARAMS : MCP_OK);
        if (rows[i].words && !strstr(err.message, rows[i].words))
            fail_msg("%s: %s", rows[i].entry, err.message);
    }
}

static const mcp_json *written(const char *entry, mcp_revision revision)
{
    const mcp_json *value;
    mcp_json_writer writer;
    mcp_buf buf;

    mcp_buf_init(&buf, 1 << 16);
    mcp_json_writer_init(&writer, &buf);
    mcp__entry_write(&writer, parsed(entry, strlen(entry)), "Resource", revision);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    value = parsed(buf.data, buf.length);
    mcp_buf_clear(&buf);
    return value;
}

static void test_members_that_came_later_are_left_out(void **state)
{
    static const char entry[] = "{\"name\":\"n\",\"title\":\"t\",\"icons\":[],\"x\":{\"title\":1},"
                                "\"annotations\":{\"priority\":1,\"lastModified\":\"d\"}}";

    (void)state;
    assert_json(written(entry, MCP_2025_03_26),
                "{\"name\":\"n\",\"x\":{\"title\":1},\"annotations\":{\"priority\":1}}", arena);
    assert_json(written(entry, MCP_2025_06_18),
                "{\"name\":\"n\",\"title\":\"t\",\"x\":{\"title\":1},"
                "\"annotations\":{\"priority\":1,\"lastModified\":\"d\"}}",
                arena);
    assert_json(written(entry, MCP_2025_11_25), entry, arena);
}

static void entries_lose_their_page_and_nothing_else(void **state)
{
    static const struct {
        const char *with, *without; /* NULL: it names none */
    } rows[] = {
        { "{\"name\":\"a\"}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"x\":1}}", NULL },
        { "{\"name\":\"a\",\"ui\":{}}", NULL },
        { "{\"name\":\"a\",\"_meta\":{\"ui\":{\"resourceUri\":\"ui://a\"}}}",
          "{\"name\":\"a\",\"_meta\":{}}" },
        { "{\"_meta\":{\"x\":1,\"ui/resourceUri\":\"ui://a\"},\"name\":\"a\"}",
          "{\"name\":\"a\",\"_meta\":{\"x\":1}}" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const mcp_json *entry = NULL;
        const mcp_json *plain = NULL;
        mcp_json_writer writer;
        mcp_buf text;
        assert_int_equal(mcp_json_read(&entry, arena, rows[i].with, strlen(rows[i].with), NULL),
                         MCP_OK);
        assert_int_equal(mcp__ui_is_in(entry), rows[i].without != NULL);
        mcp_buf_init(&text, 4096);
        mcp_json_writer_init(&writer, &text);
        mcp__ui_write_without(&writer, entry);
        assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
        assert_int_equal(mcp_json_read(&plain, arena, text.data, text.length, NULL), MCP_OK);
        assert_json(plain, rows[i].without ? rows[i].without : rows[i].with, arena);
        mcp_buf_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members_of_the_table_have_their_type),
        cmocka_unit_test(test_members_that_came_later_are_left_out),
        cmocka_unit_test(entries_lose_their_page_and_nothing_else),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * test_record.c - a record can be written with any text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/record.h"
#include "mcp/buf.h"

static int setup(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

static const mcp_json *written(mcp_arena *arena, const cobre_record *record)
{
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    assert_non_null(record);
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&writer, &text);
    cobre_record_write(record, &writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_int_equal(mcp_json_read(&value, arena, text.data, text.length, NULL), MCP_OK);
    mcp_buf_clear(&text);
    return value;
}

static void assert_record(mcp_arena *arena, const cobre_record *record, const char *expected)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, expected, strlen(expected), NULL), MCP_OK);
    assert_true(mcp_json_equal(written(arena, record), value));
}

static void a_record_has_four_members(void **state)
{
    static const char *const list[] = { "a", "b", NULL };
    const cobre_record *record = cobre_record_new(
        *state, "Kind", "Look there.",
        COBRE_MEMBERS(COBRE_TEXT("text", "t"), COBRE_INT("int", -7), COBRE_REAL("real", 0.5),
                      COBRE_LIST("list", list), COBRE_NULL("null"), COBRE_TEXT("absent", NULL)),
        "%s is %d", "it", 3);

    assert_record(*state, record,
                  "{\"kind\":\"Kind\",\"message\":\"it is 3\",\"context\":{\"text\":\"t\","
                  "\"int\":-7,\"real\":0.5,\"list\":[\"a\",\"b\"],\"null\":null,\"absent\":null},"
                  "\"suggestion\":\"Look there.\"}");
    assert_record(*state, cobre_record_new(*state, "K", NULL, NULL, "m"),
                  "{\"kind\":\"K\",\"message\":\"m\",\"context\":{},\"suggestion\":null}");
}

/* The strings of the members are copied. */
static void texts_are_the_records_own(void **state)
{
    char path[] = "/a/b";
    const cobre_record *record = cobre_record_new(
        *state, "K", NULL, COBRE_MEMBERS(COBRE_TEXT("path", path)), "%s", path);

    memset(path, 'x', 4);
    assert_record(*state, record,
                  "{\"kind\":\"K\",\"message\":\"/a/b\",\"context\":{\"path\":\"/a/b\"},"
                  "\"suggestion\":null}");
}

static void what_is_quoted_may_be_anything(void **state)
{
    const size_t long_size = 3 << 20;
    char *text = mcp_arena_alloc(*state, long_size + 1);
    const cobre_record *record = cobre_record_new(
        *state, "K", NULL, COBRE_MEMBERS(COBRE_TEXT("path", "\xFF\"\n")), "no '%s'", "\xFF\"\n");

    assert_record(
        *state, record,
        "{\"kind\":\"K\",\"message\":\"no '?\\\"\\n'\",\"context\":{\"path\":\"?\\\"\\n\"},"
        "\"suggestion\":null}");
    for (size_t i = 0; i < long_size; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    record = cobre_record_new(*state, "K", NULL, COBRE_MEMBERS(COBRE_TEXT("path", text)), "a%s",
                              text);
    assert_in_range(strlen(record->message), COBRE_RECORD_TEXT_MAX - 2, COBRE_RECORD_TEXT_MAX);
    assert_in_range(strlen(record->members[0].text), COBRE_RECORD_TEXT_MAX - 2,
                    COBRE_RECORD_TEXT_MAX);
    assert_string_equal(record->message + strlen(record->message) - 5, "\xC3\xA9...");
    written(*state, record);
}

static void no_memory_is_no_record(void **state)
{
    bool made = false;

    (void)state;
    for (size_t bound = 1; bound < 2000 && !made; bound += 8) {
        mcp_arena *small = mcp_arena_new(bound);
        made = cobre_record_new(small, "K", NULL, COBRE_MEMBERS(COBRE_TEXT("path", "/a")), "m") !=
               NULL;
        mcp_arena_free(small);
    }
    assert_true(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_has_four_members, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_are_the_records_own, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_quoted_may_be_anything, setup, teardown),
        cmocka_unit_test(no_memory_is_no_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

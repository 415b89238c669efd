/*
 * UUIDs, times of RFC 3339, cursors, and lists of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/json.h"
#include "model/fields.h"
#include "model/identity.h"

/* The time of a UUID of version 7: its first 48 bits (RFC 9562, 5.7). */
static int64_t time_of(const char *uuid)
{
    char digits[13];

    memcpy(digits, uuid, 8);
    memcpy(digits + 8, uuid + 9, 4);
    digits[12] = '\0';
    return (int64_t)strtoull(digits, NULL, 16);
}

static void expect_uuid(const char *uuid, char version)
{
    assert_int_equal(strlen(uuid), 36);
    assert_int_equal(strspn(uuid, "0123456789abcdef-"), 36);
    assert_true(uuid[8] == '-' && uuid[13] == '-' && uuid[18] == '-' && uuid[23] == '-');
    assert_int_equal(uuid[14], version);
    assert_non_null(strchr("89ab", uuid[19]));
}

static void test_uuid(void **unused)
{
    int64_t begin_ms = mcp_clock_wall_ms();
    char last[PORTARIUM_UUID_SIZE] = "";
    mcp_arena *arena = mcp_arena_new(0);
    const char *id = NULL;
    (void)unused;

    for (int round = 0; round < 100; round++) {
        char uuid[PORTARIUM_UUID_SIZE], by_time[PORTARIUM_UUID_SIZE];
        assert_int_equal(portarium_uuid(uuid, NULL), MCP_OK);
        expect_uuid(uuid, '4');
        assert_int_equal(portarium_uuid_by_time(by_time, NULL), MCP_OK);
        expect_uuid(by_time, '7');
        assert_in_range(time_of(by_time), begin_ms, mcp_clock_wall_ms());
        assert_string_not_equal(by_time, last);
        memcpy(last, by_time, sizeof last);
    }
    assert_int_equal(portarium_id_new(&id, "wi-", arena, NULL), MCP_OK);
    assert_int_equal(strncmp(id, "wi-", 3), 0);
    expect_uuid(id + 3, '7');
    assert_int_equal(portarium_id_new(&id, "", arena, NULL), MCP_OK);
    expect_uuid(id, '4');
    mcp_arena_free(arena);
}

/* The seconds are those of `date -u -d TEXT +%s`. */
static void test_times(void **unused)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        { "1970-01-01T00:00:00Z", 0 },
        { "2026-01-02T03:04:05.000Z", 1767323045000 },
        { "2000-02-29T23:59:59.9Z", 951868799900 },
        { "2024-12-31t23:59:59.123456z", 1735689599123 },
        { "2026-01-02T03:04:05+05:30", 1767303245000 },
        { "2026-01-02T03:04:05.001-08:00", 1767351845001 },
        { "9999-12-31T23:59:59.999Z", 253402300799999 },
    };
    static const char *const bad[] = {
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02 03:04:05Z",
        "2026-13-02T03:04:05Z",
        "2026-02-29T03:04:05Z",
        "1900-01-01T00:00:00Z",
        "2026-04-31T03:04:05Z",
        "2026-01-02T24:04:05Z",
        "2026-01-02T03:60:05Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05Zx",
        "2026-01-02T03:04:05+5:30",
        "2026-01-02T03:04:05+05:60",
        "1970-01-01T00:00:00+00:01",
        "26-01-02T03:04:05Z",
    };
    char text[MCP_CLOCK_UTC_SIZE];
    int64_t ms;
    (void)unused;

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ms = -1;
        assert_true(portarium_time_read(&ms, good[i].text));
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ms = -7;
        if (portarium_time_read(&ms, bad[i]) || ms != -7)
            fail_msg("%s", bad[i]);
    }
    portarium_time_write(text, 1767323045000);
    assert_string_equal(text, "2026-01-02T03:04:05.000Z");
    for (int64_t at = 0; at < 253402300799999; at += 86400000LL * 17 + 123456789) {
        portarium_time_write(text, at);
        assert_true(portarium_time_read(&ms, text));
        assert_int_equal(ms, at);
    }
}

static void test_cursors(void **unused)
{
    static const char *const keys[] = { "", "2026-01-02T03:04:05.000Z", "k", "kk", "na\xc3\xafve" };
    static const char *const ids[] = { "r", "ab", "run-123",
                                       "6f1c1f2e-9d3b-4f3e-8a51-5f4e1d2c3b4a" };
    static const char *const forged[] = { "AgACAQIDBAUGBwhh_2lk", "AgADAQIDBAUGBwhhYmOyyw",
                                          "AgADAQIDBAUGBwjtoIBp" };
    mcp_arena *arena = mcp_arena_new(0);
    portarium_cursor out;
    const char *text = NULL;
    (void)unused;

    for (size_t k = 0; k < 5; k++)
        for (size_t i = 0; i < 4; i++) {
            portarium_cursor in = { keys[k], ids[i], UINT64_MAX - i };
            assert_int_equal(portarium_cursor_write(&text, &in, arena, NULL), MCP_OK);
            assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                          "0123456789-_"),
                             strlen(text));
            assert_int_equal(portarium_cursor_read(&out, text, arena, NULL), MCP_OK);
            assert_string_equal(out.key, keys[k]);
            assert_string_equal(out.id, ids[i]);
            assert_true(out.list == UINT64_MAX - i);
        }
    /* By Python: urlsafe_b64encode(b"\2\0\3" + bytes(range(1, 9)) + b"abc" + b"id") */
    const portarium_cursor plain = { "abc", "id", 0x0102030405060708 };
    assert_int_equal(portarium_cursor_write(&text, &plain, arena, NULL), MCP_OK);
    assert_string_equal(text, "AgADAQIDBAUGBwhhYmNpZA");
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(portarium_cursor_read(&out, ids[i], arena, NULL), MCP_OK);
        assert_null(out.key);
        assert_string_equal(out.id, ids[i]);
    }
    /* Cut short, it is no cursor, but may be somebody's id. */
    assert_int_equal(portarium_cursor_read(&out, "AgADAQIDBAUGBwhhYmM", arena, NULL), MCP_OK);
    assert_null(out.key);
    /* The bytes of its key, or of its id, are no text, which PostgreSQL refuses. */
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        assert_int_equal(portarium_cursor_read(&out, forged[i], arena, NULL), MCP_OK);
        assert_null(out.key);
    }
    assert_int_equal(portarium_cursor_read(&out, "", arena, NULL), MCP_E_PARAMS);
    assert_int_equal(portarium_cursor_read(&out, "a\nb", arena, NULL), MCP_E_PARAMS);
    char *long_id = mcp_arena_alloc(arena, 3000);
    memset(long_id, 'x', 2999);
    assert_int_equal(portarium_cursor_read(&out, long_id, arena, NULL), MCP_E_PARAMS);
    assert_int_equal(
        portarium_cursor_write(&text, &(portarium_cursor){ long_id, "i", 0 }, arena, NULL),
        MCP_E_LIMIT);
    assert_int_equal(
        portarium_cursor_write(&text, &(portarium_cursor){ "k", long_id, 0 }, arena, NULL),
        MCP_E_LIMIT);
    mcp_arena_free(arena);
}

static void test_fields(void **unused)
{
    mcp_arena *arena = mcp_arena_new(0);
    portarium_fields fields;
    mcp_json_writer writer;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf buf;
    (void)unused;

    portarium_fields_init(&fields, arena);
    assert_int_equal(portarium_fields_status(&fields, &err), MCP_OK);
    const char *at = portarium_fields_index(&fields, "/actions", 2);
    portarium_fields_add(&fields, portarium_fields_at(&fields, at, "a/b~c"), "must be %d", 7);
    portarium_fields_add(&fields, "", "is \"empty\"");
    assert_int_equal(portarium_fields_status(&fields, &err), MCP_E_SCHEMA);
    assert_string_equal(err.message, "/actions/2/a~1b~0c: must be 7");
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    portarium_fields_write(&writer, &fields);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(buf.data, "[{\"field\":\"/actions/2/a~1b~0c\",\"message\":\"must be 7\"},"
                                  "{\"field\":\"\",\"message\":\"is \\\"empty\\\"\"}]");
    for (int i = 0; i < 100; i++)
        portarium_fields_add(&fields, "/x", "%0478d\xc3\xa4", 0);
    assert_int_equal(fields.count, PORTARIUM_FIELDS_MAX);
    assert_int_equal(strlen(fields.items[5].message), 478);
    mcp_buf_clear(&buf);
    mcp_arena_free(arena);
}

/* Cut anywhere, a text ends with a whole character. */
static void test_cut_texts(void **unused)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82";
    static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };

    (void)unused;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
        assert_int_equal(portarium_text_whole(text, i), whole[i]);
    assert_int_equal(portarium_text_whole("\x80\x80", 2), 2);
    mcp_arena *arena = mcp_arena_new(0);
    assert_string_equal(portarium_text_begin(arena, text, 5), "a\xc3\xa9");
    assert_string_equal(portarium_text_begin(arena, text, 100), text);
    mcp_arena_free(arena);
}

static void test_ids(void **unused)
{
    char longest[PORTARIUM_ID_MAX + 2];

    (void)unused;
    memset(longest, 'x', sizeof longest);
    longest[PORTARIUM_ID_MAX + 1] = '\0';
    assert_false(portarium_id_is_valid(longest));
    longest[PORTARIUM_ID_MAX] = '\0';
    assert_true(portarium_id_is_valid(longest));
    assert_true(portarium_id_is_valid("a b/\xc3\xa9"));
    assert_false(portarium_id_is_valid(NULL));
    assert_false(portarium_id_is_valid(""));
    assert_false(portarium_id_is_valid("a\nb"));
    assert_false(portarium_id_is_valid("a\xff"));
    assert_false(portarium_id_is_valid("a\xc3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuid),      cmocka_unit_test(test_times),
        cmocka_unit_test(test_cursors),   cmocka_unit_test(test_fields),
        cmocka_unit_test(test_cut_texts), cmocka_unit_test(test_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_thrift.c - the bytes of the compact protocol, as its specification has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "columns/parquet/thrift.h"

static void expect_bytes(mcp_buf *buf, const char *expected, size_t length)
{
    assert_int_equal(buf->status, MCP_OK);
    assert_int_equal(buf->length, length);
    assert_memory_equal(buf->data, expected, length);
    mcp_buf_clear(buf);
}
#define EXPECT(buf, text) expect_bytes(buf, text, sizeof "" text - 1)

static void numbers_are_zigzag_varints(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    thrift to = thrift_struct(&buf);
    thrift_i32(&to, 1, 0);
    thrift_i32(&to, 2, -1);
    thrift_i32(&to, 3, 1);
    thrift_i32(&to, 4, 64);
    thrift_i32(&to, 5, INT32_MIN);
    thrift_i64(&to, 6, INT64_MIN);
    thrift_i64(&to, 7, INT64_MAX);
    thrift_i8(&to, 8, -3);
    thrift_end(&to);
    EXPECT(&buf, "\x15\x00\x15\x01\x15\x02\x15\x80\x01\x15\xFF\xFF\xFF\xFF\x0F"
                 "\x16\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                 "\x16\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x13\xFD\x00");
}

static void fields_are_numbered_by_their_distance(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    thrift to = thrift_struct(&buf);
    thrift_bool(&to, 3, true);
    thrift_bool(&to, 18, false);
    thrift_bool(&to, 34, true); /* 16 further: the number itself */
    thrift_begin(&to, 35);
    thrift_i32(&to, 1, 5); /* numbers begin again inside */
    thrift_end(&to);
    thrift_binary(&to, 36, "ab", 2);
    thrift_end(&to);
    EXPECT(&buf, "\x31\xF2\x01\x44\x1C\x15\x0A\x00\x18\x02"
                 "ab\x00");
}

static void lists_say_how_long_they_are(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    thrift to = thrift_struct(&buf);
    thrift_list(&to, 1, THRIFT_I32, 2);
    thrift_item_i32(&to, 3);
    thrift_item_i32(&to, -3);
    thrift_list(&to, 2, THRIFT_BINARY, 1);
    thrift_item_binary(&to, "x", 1);
    thrift_list(&to, 3, THRIFT_STRUCT, 200);
    thrift_item_begin(&to);
    thrift_i32(&to, 1, 1);
    thrift_end(&to);
    thrift_i32(&to, 4, 1);
    thrift_end(&to);
    EXPECT(&buf, "\x19\x25\x06\x05\x19\x18\x01x\x19\xFC\xC8\x01\x15\x02\x00\x15\x02\x00");
}

static void a_buffer_that_is_full_keeps_its_status(void **state)
{
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 4);
    thrift to = thrift_struct(&buf);
    for (int16_t i = 1; i < 10; i++)
        thrift_i32(&to, i, 1);
    thrift_end(&to);
    assert_int_equal(buf.status, MCP_E_LIMIT);
    mcp_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_zigzag_varints),
        cmocka_unit_test(fields_are_numbered_by_their_distance),
        cmocka_unit_test(lists_say_how_long_they_are),
        cmocka_unit_test(a_buffer_that_is_full_keeps_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

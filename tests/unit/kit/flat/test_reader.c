/*
 * test_reader.c - reading FlatBuffers: whole ones, those with absent fields, damaged ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flat/reader.h"
#include "shape.h"

/* Read all of a shape; what it gives goes through the sanitizers. The sum keeps the compiler from
 * leaving reads out. */
static double read_all(flat_reader *from)
{
    flat_view shape = flat_read_root(from, &shape_layout);
    double sum = flat_get_u8(from, &shape, SHAPE_CLOSED) + flat_get_u32(from, &shape, SHAPE_SIDES) +
                 flat_get_f64(from, &shape, SHAPE_AREA) + flat_get_i16(from, &shape, SHAPE_SHIFT) +
                 (double)flat_get_i64(from, &shape, SHAPE_SERIAL) +
                 flat_get_i32(from, &shape, SHAPE_DEPTH) +
                 (double)flat_get_u64(from, &shape, SHAPE_CODE);
    flat_items name = flat_get_items(from, &shape, SHAPE_NAME, 1);
    flat_items marks = flat_get_items(from, &shape, SHAPE_MARKS, sizeof(uint16_t));
    flat_items points = flat_get_items(from, &shape, SHAPE_POINTS, sizeof(uint32_t));
    flat_view first = flat_get_table(from, &shape, SHAPE_FIRST, &point_layout);

    for (size_t i = 0; i < name.count; i++)
        sum += name.bytes[i];
    for (size_t i = 0; i < marks.count * marks.size; i++)
        sum += marks.bytes[i];
    for (size_t i = 0; i < points.count && from->error.status == MCP_OK; i++) {
        flat_view point = flat_get_table_item(from, &points, i, &point_layout);
        sum += flat_get_f64(from, &point, POINT_X);
    }
    return sum + flat_get_f64(from, &first, POINT_Y);
}

/* The kite in memory of exactly its length, which ASan guards. */
static uint8_t *kite(size_t *length)
{
    mcp_buf buf;

    mcp_buf_init(&buf, 10000);
    build_kite(&buf);
    assert_int_equal(buf.status, MCP_OK);
    uint8_t *bytes = malloc(buf.length);
    assert_non_null(bytes);
    memcpy(bytes, buf.data, buf.length);
    *length = buf.length;
    mcp_buf_clear(&buf);
    return bytes;
}

static void what_was_written_is_read(void **state)
{
    size_t length = 0;
    uint8_t *bytes = kite(&length);
    flat_reader from;

    (void)state;
    flat_reader_begin(&from, bytes, length);
    flat_view shape = flat_read_root(&from, &shape_layout);
    assert_int_equal(flat_get_u8(&from, &shape, SHAPE_CLOSED), 1);
    assert_int_equal(flat_get_u32(&from, &shape, SHAPE_SIDES), 4);
    assert_true(flat_get_f64(&from, &shape, SHAPE_AREA) == 2.5);
    assert_int_equal(flat_get_i16(&from, &shape, SHAPE_SHIFT), -2);
    assert_true(flat_get_i64(&from, &shape, SHAPE_SERIAL) == INT64_MIN);
    assert_int_equal(flat_get_i32(&from, &shape, SHAPE_DEPTH), -70000);
    assert_true(flat_get_u64(&from, &shape, SHAPE_CODE) == UINT64_MAX);
    flat_items name = flat_get_items(&from, &shape, SHAPE_NAME, 1);
    assert_int_equal(name.count, 4);
    assert_memory_equal(name.bytes, "kite", 5); /* a text ends with NUL */
    flat_items points = flat_get_items(&from, &shape, SHAPE_POINTS, 4);
    assert_int_equal(points.count, 3);
    flat_view last = flat_get_table_item(&from, &points, 2, &point_layout);
    assert_true(flat_get_f64(&from, &last, POINT_X) == 5);
    assert_true(flat_get_f64(&from, &last, POINT_Y) == 6);
    flat_view first = flat_get_table(&from, &shape, SHAPE_FIRST, &point_layout);
    assert_true(flat_get_f64(&from, &first, POINT_Y) == 2);
    assert_int_equal(from.error.status, MCP_OK);
    free(bytes);
}

/* An older writer knew fewer fields: its vtable is shorter. */
static void absent_fields_are_zero_and_empty(void **state)
{
    flat_builder to;
    flat_reader from;
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    flat_builder_begin(&to, &buf);
    add_point(&to, FLAT_ROOT, 0, 0);
    flat_reader_begin(&from, buf.data, buf.length);
    flat_view shape = flat_read_root(&from, &shape_layout);
    assert_int_equal(flat_get_u32(&from, &shape, SHAPE_SIDES), 0);
    assert_true(flat_get_f64(&from, &shape, SHAPE_AREA) == 0);
    assert_int_equal(flat_get_items(&from, &shape, SHAPE_MARKS, 2).count, 0);
    flat_view first = flat_get_table(&from, &shape, SHAPE_FIRST, &point_layout);
    assert_true(flat_get_f64(&from, &first, POINT_X) == 0);
    assert_int_equal(from.error.status, MCP_OK);
    mcp_buf_clear(&buf);
}

static void a_short_file_is_refused_at_every_length(void **state)
{
    size_t length = 0;
    uint8_t *bytes = kite(&length);
    size_t refused = 0;
    flat_reader from;

    (void)state;
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        assert_non_null(part);
        memcpy(part, bytes, cut);
        flat_reader_begin(&from, part, cut);
        read_all(&from);
        refused += from.error.status == MCP_E_PARSE;
        free(part);
    }
    assert_int_equal(refused, length);
    free(bytes);
}

static void any_byte_may_be_any_other(void **state)
{
    size_t length = 0;
    uint8_t *bytes = kite(&length);
    double sum = 0;
    flat_reader from;

    (void)state;
    for (size_t at = 0; at < length; at++) {
        for (int change = 1; change < 256; change++) {
            bytes[at] ^= (uint8_t)change;
            flat_reader_begin(&from, bytes, length);
            sum += read_all(&from);
            assert_true(from.error.status == MCP_OK || from.error.status == MCP_E_PARSE);
            bytes[at] ^= (uint8_t)change;
        }
    }
    assert_false(sum == 1); /* it is used */
    free(bytes);
}

static void expect_refusal(const uint8_t *bytes, size_t length, const char *said)
{
    flat_reader from;

    flat_reader_begin(&from, bytes, length);
    read_all(&from);
    assert_int_equal(from.error.status, MCP_E_PARSE);
    if (!strstr(from.error.message, said))
        fail_msg("'%s' is not in '%s'", said, from.error.message);
}

/* The message names the table, the field and the byte. */
static void the_error_names_the_place(void **state)
{
    size_t length = 0;
    uint8_t *bytes = kite(&length);
    uint32_t root = 0, offset = 0;
    uint16_t field = 0;

    (void)state;
    memcpy(&root, bytes, sizeof root);
    int32_t back = 0;
    memcpy(&back, bytes + root, sizeof back);
    memcpy(&field, bytes + root - back + 4 + 2 * SHAPE_POINTS, sizeof field);
    memcpy(&offset, bytes + root + field, sizeof offset);
    size_t points = root + field + offset;
    uint32_t count = 1 << 30;
    memcpy(bytes + points, &count, sizeof count);
    expect_refusal(bytes, length, "Shape.points at byte");
    count = 3;
    memcpy(bytes + points, &count, sizeof count);
    memset(bytes + points + 4, 0, 4);
    expect_refusal(bytes, length, "a reference of the vector is null");
    memcpy(bytes + root, &(int32_t){ (int32_t)root + 2 }, 4);
    expect_refusal(bytes, length, "Shape.(table) at byte");
    memset(bytes, 0, 4);
    expect_refusal(bytes, length, "no root table");
    free(bytes);
}

static void the_first_error_stays(void **state)
{
    flat_reader from;

    (void)state;
    flat_reader_begin(&from, "\0\0\0\0", 4);
    flat_view shape = flat_read_root(&from, &shape_layout);
    mcp_error first = from.error;
    assert_int_equal(first.status, MCP_E_PARSE);
    flat_get_items(&from, &shape, SHAPE_MARKS, 2);
    flat_read_root(&from, &point_layout);
    assert_string_equal(from.error.message, first.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(absent_fields_are_zero_and_empty),
        cmocka_unit_test(a_short_file_is_refused_at_every_length),
        cmocka_unit_test(any_byte_may_be_any_other),
        cmocka_unit_test(the_error_names_the_place),
        cmocka_unit_test(the_first_error_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

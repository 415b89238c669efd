/*
 * test_builder.c - the bytes of FlatBuffers, as "FlatBuffer Internals" has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "shape.h"

static uint32_t u32_at(const mcp_buf *buf, size_t at)
{
    uint32_t value;

    assert_true(at + sizeof value <= buf->length);
    memcpy(&value, buf->data + at, sizeof value);
    return value;
}

/* By hand: the reference to the root, 12; at 4 the vtable of Point (8 bytes, a table of 20, x at 4,
 * y at 12); at 12 the table, so that 12 + 4 is a multiple of 8, which begins with 12 - 4; then 1.5
 * and -2.0. */
static void a_table_follows_its_vtable(void **state)
{
    /* clang-format off */
    static const uint8_t expected[] = {
        12, 0, 0, 0,   8, 0, 20, 0, 4, 0, 12, 0,   8, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0xF8, 0x3F,   0, 0, 0, 0, 0, 0, 0, 0xC0,
    };
    /* clang-format on */
    flat_builder to;
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 1000);
    flat_builder_begin(&to, &buf);
    add_point(&to, FLAT_ROOT, 1.5, -2.0);
    assert_int_equal(buf.status, MCP_OK);
    assert_int_equal(buf.length, sizeof expected);
    assert_memory_equal(buf.data, expected, sizeof expected);
    mcp_buf_clear(&buf);
}

static void tables_of_one_kind_share_a_vtable(void **state)
{
    flat_builder to;
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, 100000);
    flat_builder_begin(&to, &buf);
    flat_table shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
    uint32_t points = flat_add_references(&to, flat_at(&shape, SHAPE_POINTS), 1000);
    for (size_t i = 0; i < 1000; i++)
        add_point(&to, flat_item(points, i), 0, 0);
    assert_int_equal(buf.status, MCP_OK);
    /* 24 bytes a point: 20 of data, 4 that align the next. */
    assert_true(buf.length < 1000 * (24 + 4) + 200);
    mcp_buf_clear(&buf);
}

static void everything_is_aligned(void **state)
{
    flat_builder to;
    mcp_buf buf;

    (void)state;
    for (size_t length = 0; length < 9; length++) { /* of a text that moves what follows it */
        mcp_buf_init(&buf, 1000);
        flat_builder_begin(&to, &buf);
        flat_table shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
        flat_add_text(&to, flat_at(&shape, SHAPE_NAME), &"12345678"[length]);
        uint32_t marks = flat_at(&shape, SHAPE_MARKS);
        assert_non_null(flat_add_vector(&to, marks, 2, 8, 8));
        uint32_t first = flat_at(&shape, SHAPE_FIRST);
        add_point(&to, first, 1, 2);
        assert_int_equal(buf.status, MCP_OK);
        assert_int_equal((marks + u32_at(&buf, marks) + 4) % 8, 0);
        assert_int_equal((first + u32_at(&buf, first) + 4) % 8, 0);
        mcp_buf_clear(&buf);
    }
}

static void offsets_count_from_the_start_of_the_flatbuffer(void **state)
{
    mcp_buf alone, behind;

    (void)state;
    mcp_buf_init(&alone, 10000);
    mcp_buf_init(&behind, 10000);
    build_kite(&alone);
    mcp_buf_append(&behind, "8 bytes.", 8);
    build_kite(&behind);
    assert_int_equal(behind.status, MCP_OK);
    assert_int_equal(behind.length, alone.length + 8);
    assert_memory_equal(behind.data + 8, alone.data, alone.length);
    mcp_buf_clear(&alone);
    mcp_buf_clear(&behind);
}

static void a_full_buffer_is_reported_and_nothing_is_written_after_it(void **state)
{
    mcp_buf whole, part;

    (void)state;
    mcp_buf_init(&whole, 10000);
    build_kite(&whole);
    for (size_t limit = 1; limit < whole.length; limit++) {
        mcp_buf_init(&part, limit);
        build_kite(&part);
        assert_int_equal(part.status, MCP_E_LIMIT);
        assert_true(part.length <= limit);
        mcp_buf_clear(&part);
    }
    mcp_buf_clear(&whole);
}

static void more_than_two_gib_are_refused(void **state)
{
    flat_builder to;
    mcp_buf buf;

    (void)state;
    mcp_buf_init(&buf, SIZE_MAX);
    flat_builder_begin(&to, &buf);
    flat_table shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
    assert_null(flat_add_vector(&to, flat_at(&shape, SHAPE_MARKS), (size_t)1 << 28, 8, 8));
    assert_int_equal(buf.status, MCP_E_LIMIT);
    mcp_buf_reset(&buf);
    flat_builder_begin(&to, &buf);
    shape = flat_add_table(&to, FLAT_ROOT, &shape_layout);
    assert_null(flat_add_vector(&to, flat_at(&shape, SHAPE_MARKS), SIZE_MAX / 2, 8, 8));
    assert_int_equal(buf.status, MCP_E_LIMIT);
    mcp_buf_clear(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_follows_its_vtable),
        cmocka_unit_test(tables_of_one_kind_share_a_vtable),
        cmocka_unit_test(everything_is_aligned),
        cmocka_unit_test(offsets_count_from_the_start_of_the_flatbuffer),
        cmocka_unit_test(a_full_buffer_is_reported_and_nothing_is_written_after_it),
        cmocka_unit_test(more_than_two_gib_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

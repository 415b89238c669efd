/*
 * test_frames.c - the frames of the plugin protocol, cut at every byte, and rows of JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/run/frames.h"
#include "plugins/run/json_rows.h"

/* The example of the specification, 2.4: 57 bytes of payload. */
#define GOLDEN "CFJ1{\"c\":[\"id\",\"value\"],\"r\":[[1,\"a\"],[2,null],[3,\"ccc\"]]}"

static const char stream[] = "\xFF\xFF\xFF\xFA\0\0\0\2{}"
                             "\xFF\xFF\xFF\xFD\0\0\0\1"
                             "\0\0\0\x39" GOLDEN "\xFF\xFF\xFF\xFC\0\0\0\1"
                             "\xFF\xFF\xFF\xFE\4\0\0\0\3log"
                             "\xFF\xFF\xFF\xFB\0\0\0\2{}"
                             "\0\0\0\0";

static const casparian_frame_kind kinds[] = {
    CASPARIAN_FRAME_OUTPUT_META, CASPARIAN_FRAME_OUTPUT_START, CASPARIAN_FRAME_DATA,
    CASPARIAN_FRAME_OUTPUT_END,  CASPARIAN_FRAME_LOG,          CASPARIAN_FRAME_METRICS,
    CASPARIAN_FRAME_END,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void feed(casparian_frames *reader, const char *bytes, size_t length)
{
    while (length) {
        size_t room;
        char *at = casparian_frames_space(reader, &room);
        size_t part = length < room ? length : room;
        assert_non_null(at);
        memcpy(at, bytes, part);
        casparian_frames_filled(reader, part);
        bytes += part;
        length -= part;
    }
}

static void check_frame(const casparian_frame *frame, size_t number)
{
    assert_true(number < KINDS);
    assert_int_equal(frame->kind, kinds[number]);
    if (frame->kind == CASPARIAN_FRAME_DATA) {
        assert_int_equal(frame->length, 57);
        assert_memory_equal(frame->bytes, GOLDEN, 57);
    } else if (frame->kind == CASPARIAN_FRAME_LOG) {
        assert_int_equal(frame->number, 4);
        assert_memory_equal(frame->bytes, "log", 3);
    } else if (frame->kind == CASPARIAN_FRAME_OUTPUT_START) {
        assert_int_equal(frame->number, 1);
    }
}

static size_t take_all(casparian_frames *reader, size_t number)
{
    casparian_frame frame;
    do {
        assert_int_equal(casparian_frames_next(&frame, reader, NULL), MCP_OK);
        if (frame.kind != CASPARIAN_FRAME_NONE)
            check_frame(&frame, number++);
    } while (frame.kind != CASPARIAN_FRAME_NONE);
    return number;
}

/* However the bytes arrive, the frames are the same, and none comes before its last byte. */
static void frames_are_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t cut = 0; cut < sizeof stream; cut++) {
        casparian_frames reader;
        casparian_frames_init(&reader);
        feed(&reader, stream, cut);
        size_t taken = take_all(&reader, 0);
        assert_true(taken < KINDS || cut == sizeof stream - 1);
        feed(&reader, stream + cut, sizeof stream - 1 - cut);
        assert_int_equal(take_all(&reader, taken), KINDS);
        assert_int_equal(casparian_frames_rest(&reader), 0);
        casparian_frames_clear(&reader);
    }
}

static void refuses(const char *bytes, size_t length, mcp_status status, const char *message)
{
    casparian_frames reader;
    casparian_frame frame;
    mcp_error err = MCP_ERROR_INIT;
    casparian_frames_init(&reader);
    feed(&reader, bytes, length);
    assert_int_equal(casparian_frames_next(&frame, &reader, &err), status);
    assert_non_null(strstr(err.message, message));
    casparian_frames_clear(&reader);
}

static void lengths_and_signals_are_bounded(void **state)
{
    (void)state;
    refuses("\x06\x40\x00\x01", 4, MCP_E_LIMIT, "0x06400001 is no signal");
    refuses("\xFF\xFF\xFF\x00", 4, MCP_E_LIMIT, "no signal");
    refuses("\xFF\xFF\xFF\xFE\6\0\0\0\1x", 10, MCP_E_PARSE, "level 6");
    refuses("\xFF\xFF\xFF\xFE\1\0\1\0\1", 9, MCP_E_LIMIT, "LOG frame of 65537 bytes");
    refuses("\xFF\xFF\xFF\xFB\0\x10\0\1", 8, MCP_E_LIMIT, "METRICS frame of 1048577 bytes");
}

static void blocks_have_lengths_alone(void **state)
{
    casparian_frames reader;
    casparian_frame block;

    (void)state;
    casparian_frames_init(&reader);
    feed(&reader, "\0\0\0\2xy\0\0\0\0\0\0\0\7", 14);
    assert_int_equal(casparian_frames_next_block(&block, &reader, 6, NULL), MCP_OK);
    assert_int_equal(block.kind, CASPARIAN_FRAME_DATA);
    assert_memory_equal(block.bytes, "xy", 2);
    assert_int_equal(casparian_frames_next_block(&block, &reader, 6, NULL), MCP_OK);
    assert_int_equal(block.kind, CASPARIAN_FRAME_END);
    assert_int_equal(casparian_frames_next_block(&block, &reader, 6, NULL), MCP_E_LIMIT);
    casparian_frames_clear(&reader);
}

/* ---- rows of JSON ---------------------------------------------------------------------------- */

static mcp_status shred(casparian_batch *out, mcp_arena *arena, const char *text, mcp_error *err)
{
    return casparian_json_rows_read(out, arena, text, strlen(text), err);
}

static void a_payload_becomes_columns(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    casparian_batch batch;

    (void)state;
    assert_int_equal(shred(&batch, arena, GOLDEN + 4, NULL), MCP_OK);
    assert_int_equal(batch.rows, 3);
    assert_int_equal(batch.count, 2);
    const casparian_vector *id = casparian_batch_find(&batch, "id");
    const casparian_vector *value = casparian_batch_find(&batch, "value");
    assert_int_equal(id->type.kind, CASPARIAN_KIND_INT64);
    assert_null(id->valid);
    assert_int_equal(value->type.kind, CASPARIAN_KIND_STRING);
    assert_int_equal(casparian_vector_cell(value, 1).kind, CASPARIAN_KIND_NULL);
    assert_memory_equal(casparian_vector_cell(value, 2).text.bytes, "ccc", 3);
    mcp_arena_free(arena);
}

static void cells_of_another_kind_are_odd(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    casparian_batch batch;

    (void)state;
    assert_int_equal(
        shred(&batch, arena, "{\"c\":[\"a\"],\"r\":[[null],[1],[\"x\"],[true],[2],[2.5]]}", NULL),
        MCP_OK);
    const casparian_vector *a = &batch.columns[0];
    assert_int_equal(a->type.kind, CASPARIAN_KIND_INT64);
    assert_int_equal(a->odd_count, 3);
    assert_int_equal(casparian_vector_cell(a, 2).kind, CASPARIAN_KIND_STRING);
    assert_int_equal(casparian_vector_cell(a, 3).kind, CASPARIAN_KIND_BOOLEAN);
    assert_int_equal(casparian_vector_cell(a, 4).integer, 2);
    assert_int_equal(casparian_vector_cell(a, 5).kind, CASPARIAN_KIND_FLOAT64);
    assert_int_equal(casparian_vector_cell(a, 0).kind, CASPARIAN_KIND_NULL);
    mcp_arena_free(arena);
}

/* One scale serves for all of a column; where 38 digits do not reach, the cell keeps its own. */
static void decimals_share_a_scale(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    casparian_batch batch;

    (void)state;
    assert_int_equal(shred(&batch, arena,
                           "{\"c\":[\"a\"],\"r\":[[{\"$n\":\"1.5\"}],[{\"$n\":\"-0.25\"}],"
                           "[{\"$n\":\"12345678901234567890123456789012345678\"}]]}",
                           NULL),
                     MCP_OK);
    const casparian_vector *a = &batch.columns[0];
    assert_int_equal(a->type.decimal.scale, 2);
    assert_true(casparian_vector_cell(a, 0).decimal == 150);
    assert_true(casparian_vector_cell(a, 1).decimal == -25);
    assert_int_equal(a->odd_count, 1);
    assert_int_equal(a->odds[0].cell.scale, 0);
    mcp_arena_free(arena);
}

static void objects_may_lack_columns(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    casparian_batch batch;

    (void)state;
    assert_int_equal(shred(&batch, arena, "{\"d\":[{\"a\":1},{\"b\":null,\"a\":2}]}", NULL),
                     MCP_OK);
    const casparian_vector *b = casparian_batch_find(&batch, "b");
    assert_true(casparian_vector_cell(b, 0).is_absent);
    assert_false(casparian_vector_cell(b, 1).is_absent);
    assert_int_equal(casparian_batch_find(&batch, "a")->type.kind, CASPARIAN_KIND_INT64);
    mcp_arena_free(arena);
}

static void what_is_no_payload_is_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "", "" },
        { "[]", "rows of JSON are" },
        { "{\"c\":[\"a\"]}", "rows of JSON are" },
        { "{\"c\":[\"a\",\"a\"],\"r\":[]}", "occurs twice" },
        { "{\"c\":[1],\"r\":[]}", "no string" },
        { "{\"c\":[\"a\\u0000b\"],\"r\":[]}", "NUL" },
        { "{\"c\":[\"a\"],\"r\":[[1,2]]}", "row 1 has not the 1 cells" },
        { "{\"c\":[\"a\"],\"r\":[[1],[[]]]}", "row 2, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$x\":1}]]}", "row 1, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$n\":\"1e5\"}]]}", "row 1, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$b\":\"a\"}]]}", "row 1, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$d\":3000000000}]]}", "row 1, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$tz\":[1]}]]}", "row 1, column a" },
        { "{\"c\":[\"a\"],\"r\":[[{\"$ts\":1.5}]]}", "row 1, column a" },
        { "{\"d\":[1]}", "row 1 is no object" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        mcp_error err = MCP_ERROR_INIT;
        casparian_batch batch;
        if (shred(&batch, arena, rows[i].text, &err) != MCP_E_PARSE)
            fail_msg("taken: %s", rows[i].text);
        if (!strstr(err.message, rows[i].message))
            fail_msg("%s: %s", rows[i].text, err.message);
        mcp_arena_free(arena);
    }
}

/* "{"c":[...],"r":[...]}" with so many columns and rows of nulls. */
static mcp_status shred_nulls(size_t columns, size_t rows, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new((size_t)2 << 30);
    casparian_batch batch;
    mcp_buf text;
    mcp_buf_init(&text, (size_t)256 << 20);
    mcp_buf_puts(&text, "{\"c\":[");
    for (size_t i = 0; i < columns; i++)
        mcp_buf_printf(&text, "%s\"c%zu\"", i ? "," : "", i);
    mcp_buf_puts(&text, "],\"r\":[");
    for (size_t row = 0; row < rows; row++) {
        mcp_buf_puts(&text, row ? ",[" : "[");
        for (size_t i = 0; i < columns; i++)
            mcp_buf_puts(&text, i ? ",0" : "0");
        mcp_buf_putc(&text, ']');
    }
    mcp_buf_puts(&text, "]}");
    mcp_status st = casparian_json_rows_read(&batch, arena, text.data, text.length, err);
    mcp_buf_clear(&text);
    mcp_arena_free(arena);
    return st;
}

static void a_payload_has_its_bounds(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    (void)state;
    assert_int_equal(shred_nulls(1, 50000, &err), MCP_OK);
    assert_int_equal(shred_nulls(1, 50001, &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "50001 rows"));
    assert_int_equal(shred_nulls(2010, 1, &err), MCP_OK);
    assert_int_equal(shred_nulls(2011, 1, &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "2010 columns"));
}

/* Whatever the payload, cut anywhere it is refused. */
static void a_payload_is_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t length = 0; length < strlen(GOLDEN) - 4; length++) {
        mcp_arena *arena = mcp_arena_new(0);
        casparian_batch batch;
        assert_int_equal(casparian_json_rows_read(&batch, arena, GOLDEN + 4, length, NULL),
                         MCP_E_PARSE);
        mcp_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_cut_at_every_byte),
        cmocka_unit_test(lengths_and_signals_are_bounded),
        cmocka_unit_test(blocks_have_lengths_alone),
        cmocka_unit_test(a_payload_becomes_columns),
        cmocka_unit_test(cells_of_another_kind_are_odd),
        cmocka_unit_test(decimals_share_a_scale),
        cmocka_unit_test(objects_may_lack_columns),
        cmocka_unit_test(what_is_no_payload_is_refused),
        cmocka_unit_test(a_payload_has_its_bounds),
        cmocka_unit_test(a_payload_is_cut_at_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

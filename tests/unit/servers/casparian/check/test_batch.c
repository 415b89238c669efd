/*
 * test_batch.c - batches: the example of the plugin protocol, every way to damage it, and all kinds
 * of values through the CFB1 form and back.
 */
#include "check/batch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "keys/canonical.h"
#include "mcp/hash.h"

/* The protocol's example: id [1, 2, 3] and value ["a", null, "ccc"], and its SHA-256. */
static const char golden[] = "434642310100020003000000"
                             "1f000000"
                             "020000000200000000000000"
                             "6964"
                             "050100000500000000000000"
                             "76616c7565"
                             "00"
                             "010000000000000002000000000000000300000000000000"
                             "0500000000000000"
                             "00000000010000000100000004000000"
                             "6163636300000000";
static const char golden_hash[] =
    "86f20d3a6dad229f9b91dea1453c6fb7adecb069ba15c76dd42530979e6572d3";

#define GOLDEN_SIZE 104

struct bytes {
    _Alignas(8) uint8_t at[GOLDEN_SIZE + 8];
};

static struct bytes golden_bytes(void)
{
    struct bytes out = { 0 };
    for (size_t i = 0; i < GOLDEN_SIZE; i++) {
        char pair[3] = { golden[2 * i], golden[2 * i + 1], '\0' };
        out.at[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return out;
}

static void test_golden(void **state)
{
    struct bytes bytes = golden_bytes();
    mcp_arena *arena = mcp_arena_new(1 << 20);
    mcp_error err;
    casparian_batch batch;
    size_t repaired = 0;
    uint8_t digest[MCP_SHA256_SIZE];
    char digits[KEYS_HEX_SIZE];
    mcp_buf out;
    (void)state;
    assert_int_equal(strlen(golden), 2 * GOLDEN_SIZE);
    assert_int_equal(casparian_batch_decode(&batch, &repaired, arena, bytes.at, GOLDEN_SIZE, &err),
                     MCP_OK);
    assert_int_equal(batch.rows, 3);
    assert_int_equal(batch.count, 2);
    assert_int_equal(repaired, 0);
    const casparian_vector *id = casparian_batch_find(&batch, "id");
    const casparian_vector *value = casparian_batch_find(&batch, "value");
    assert_non_null(id);
    assert_non_null(value);
    assert_null(casparian_batch_find(&batch, "valu"));
    for (size_t row = 0; row < 3; row++)
        assert_int_equal(casparian_vector_cell(id, row).integer, row + 1);
    assert_int_equal(casparian_vector_cell(value, 1).kind, CASPARIAN_KIND_NULL);
    casparian_cell last = casparian_vector_cell(value, 2);
    assert_int_equal(last.kind, CASPARIAN_KIND_STRING);
    assert_int_equal(last.text.length, 3);
    assert_memory_equal(last.text.bytes, "ccc", 3);

    mcp_buf_init(&out, 1 << 20);
    assert_int_equal(casparian_batch_encode(&out, &batch, &err), MCP_OK);
    assert_int_equal(out.length, GOLDEN_SIZE);
    assert_int_equal(mcp_sha256(digest, out.data, out.length, &err), MCP_OK);
    keys_hex(digits, digest);
    assert_string_equal(digits, golden_hash);
    mcp_buf_clear(&out);
    mcp_arena_free(arena);
}

static mcp_status decode(const struct bytes *bytes, size_t length)
{
    mcp_arena *arena = mcp_arena_new(1 << 20);
    mcp_error err;
    casparian_batch batch;
    mcp_status st = casparian_batch_decode(&batch, NULL, arena, bytes->at, length, &err);
    mcp_arena_free(arena);
    return st;
}

static void test_cut_at_every_byte(void **state)
{
    struct bytes bytes = golden_bytes();
    (void)state;
    for (size_t length = 0; length < GOLDEN_SIZE; length++)
        assert_int_equal(decode(&bytes, length), MCP_E_PARSE);
    assert_int_equal(decode(&bytes, GOLDEN_SIZE + 1), MCP_E_PARSE);
}

/* One byte is changed; the batch is refused. */
static void test_damage(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
        mcp_status expected;
    } rows[] = {
        { 0, 'X', MCP_E_PARSE },   /* the magic */
        { 4, 2, MCP_E_PARSE },     /* the version */
        { 10, 0xFF, MCP_E_LIMIT }, /* the rows */
        { 12, 0x20, MCP_E_PARSE }, /* the length of the descriptors */
        { 16, 12, MCP_E_PARSE },   /* the type of `id` */
        { 31, 2, MCP_E_PARSE },    /* the flags of `value` */
        { 80, 1, MCP_E_PARSE },    /* its first offset */
        { 84, 9, MCP_E_PARSE },    /* its second one, above the third */
        { 28, 0, MCP_E_PARSE },    /* NUL in a name */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bytes bytes = golden_bytes();
        bytes.at[rows[i].at] = rows[i].byte;
        assert_int_equal(decode(&bytes, GOLDEN_SIZE), rows[i].expected);
    }
}

static void test_texts_are_repaired(void **state)
{
    struct bytes bytes = golden_bytes();
    mcp_arena *arena = mcp_arena_new(1 << 20);
    mcp_error err;
    casparian_batch batch;
    size_t repaired = 0;
    (void)state;
    bytes.at[96] = 0xC3; /* "a" becomes the first half of a code point */
    assert_int_equal(casparian_batch_decode(&batch, &repaired, arena, bytes.at, GOLDEN_SIZE, &err),
                     MCP_OK);
    assert_int_equal(repaired, 1);
    casparian_cell cell = casparian_vector_cell(casparian_batch_find(&batch, "value"), 0);
    assert_int_equal(cell.text.length, 3);
    assert_memory_equal(cell.text.bytes, "\xEF\xBF\xBD", 3);
    cell = casparian_vector_cell(casparian_batch_find(&batch, "value"), 2);
    assert_memory_equal(cell.text.bytes, "ccc", 3);
    mcp_arena_free(arena);
}

/* A column of each kind with a null in the middle, written and read. */
static void test_all_kinds(void **state)
{
    static const uint8_t booleans[] = { 1, 0, 0 }, valid[] = { 5 };
    static const int64_t integers[] = { INT64_MIN, 0, INT64_MAX };
    static const double numbers[] = { -0.5, 0, 1e300 };
    static const int32_t dates[] = { -719162, 0, 2932896 };
    static const uint32_t offsets[] = { 0, 2, 2, 3 };
    casparian_int128 decimals[] = { -((casparian_int128)1 << 120), 0, 12345 };
    casparian_vector columns[] = {
        { .name = "b", .type = { .kind = CASPARIAN_KIND_BOOLEAN }, .values = booleans },
        { .name = "i", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = integers },
        { .name = "f", .type = { .kind = CASPARIAN_KIND_FLOAT64 }, .values = numbers },
        { .name = "d",
          .type = { .kind = CASPARIAN_KIND_DECIMAL, .decimal = { 38, 4 } },
          .values = decimals },
        { .name = "s",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .offsets = offsets,
          .bytes = "\xC3\xA9z" },
        { .name = "x",
          .type = { .kind = CASPARIAN_KIND_BINARY },
          .offsets = offsets,
          .bytes = "\xFF\0z" },
        { .name = "day", .type = { .kind = CASPARIAN_KIND_DATE }, .values = dates },
        { .name = "ts", .type = { .kind = CASPARIAN_KIND_TIMESTAMP }, .values = integers },
        { .name = "tz",
          .type = { .kind = CASPARIAN_KIND_TIMESTAMP_TZ, .zone = "Europe/Berlin" },
          .values = integers },
        { .name = "t", .type = { .kind = CASPARIAN_KIND_TIME }, .values = integers },
        { .name = "p", .type = { .kind = CASPARIAN_KIND_DURATION }, .values = integers },
        { .name = "n", .type = { .kind = CASPARIAN_KIND_NULL } },
    };
    size_t count = sizeof columns / sizeof columns[0];
    casparian_batch batch = { .rows = 3, .count = count, .columns = columns }, again;
    mcp_arena *arena = mcp_arena_new(1 << 20);
    mcp_error err;
    mcp_buf out;
    (void)state;
    for (size_t i = 0; i + 1 < count; i++)
        columns[i].valid = valid;
    mcp_buf_init(&out, 1 << 20);
    assert_int_equal(casparian_batch_encode(&out, &batch, &err), MCP_OK);
    assert_int_equal(out.length % 8, 0);
    assert_int_equal(casparian_batch_decode(&again, NULL, arena, out.data, out.length, &err),
                     MCP_OK);
    assert_int_equal(again.count, count);
    for (size_t i = 0; i < count; i++) {
        const casparian_vector *vector = &again.columns[i];
        assert_string_equal(vector->name, columns[i].name);
        assert_true(casparian_type_equal(&vector->type, &columns[i].type));
        assert_int_equal(casparian_vector_cell(vector, 1).kind, CASPARIAN_KIND_NULL);
        for (size_t row = 0; row < 3; row += 2) {
            casparian_cell a = casparian_vector_cell(vector, row);
            casparian_cell b = casparian_vector_cell(&columns[i], row);
            assert_int_equal(a.kind, b.kind);
            if (a.kind == CASPARIAN_KIND_DECIMAL)
                assert_true(a.decimal == b.decimal && a.scale == 4);
            else if (a.kind == CASPARIAN_KIND_STRING || a.kind == CASPARIAN_KIND_BINARY)
                assert_true(a.text.length == b.text.length &&
                            memcmp(a.text.bytes, b.text.bytes, a.text.length) == 0);
            else if (a.kind == CASPARIAN_KIND_BOOLEAN)
                assert_int_equal(a.boolean, b.boolean);
            else if (a.kind != CASPARIAN_KIND_NULL)
                assert_int_equal(a.integer, b.integer);
        }
    }
    mcp_buf_clear(&out);
    mcp_arena_free(arena);
}

static void test_odd_cells(void **state)
{
    static const int64_t integers[] = { 7, 0, 0 };
    static const uint8_t valid[] = { 1 }, absent[] = { 4 };
    const casparian_odd odds[] = { { 1, { .kind = CASPARIAN_KIND_STRING, .text = { "N/A", 3 } } } };
    const casparian_vector column = { .name = "i",
                                      .type = { .kind = CASPARIAN_KIND_INT64 },
                                      .valid = valid,
                                      .absent = absent,
                                      .values = integers,
                                      .odds = odds,
                                      .odd_count = 1 };
    const casparian_batch batch = { .rows = 3, .count = 1, .columns = &column };
    mcp_error err;
    mcp_buf out;
    (void)state;
    assert_int_equal(casparian_vector_cell(&column, 0).integer, 7);
    casparian_cell odd = casparian_vector_cell(&column, 1);
    assert_int_equal(odd.kind, CASPARIAN_KIND_STRING);
    assert_memory_equal(odd.text.bytes, "N/A", 3);
    casparian_cell none = casparian_vector_cell(&column, 2);
    assert_true(none.kind == CASPARIAN_KIND_NULL && none.is_absent);
    mcp_buf_init(&out, 1 << 20);
    assert_int_equal(casparian_batch_encode(&out, &batch, &err), MCP_E_PARAMS);
    mcp_buf_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),    cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_damage),    cmocka_unit_test(test_texts_are_repaired),
        cmocka_unit_test(test_all_kinds), cmocka_unit_test(test_odd_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

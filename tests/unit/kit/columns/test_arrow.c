/*
 * test_arrow.c - Arrow files: read strictly, by the layout that the format prescribes, and by the
 * official JavaScript implementation (skipped, with a message, where npm has not installed it).
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/arrow.h"
#include "flat/reader.h"
#include "guard/paths.h"
#include "mcp/json.h"
#include "scratch_arena.h"

#define FILE_NAME "x.arrow"

extern char **environ;

/* ---- a table of every type ------------------------------------------------------------------- */

static const uint8_t every_bool[] = { 1, 0, 1 };
static const int8_t every_i8[] = { -128, 0, 127 };
static const int16_t every_i16[] = { -32768, 0, 32767 };
static const int32_t every_i32[] = { INT32_MIN, 0, INT32_MAX };
static const int64_t every_i64[] = { INT64_MIN, 0, INT64_MAX };
static const uint8_t every_u8[] = { 0, 7, 255 };
static const uint16_t every_u16[] = { 0, 7, 65535 };
static const uint32_t every_u32[] = { 0, 7, UINT32_MAX };
static const uint64_t every_u64[] = { 0, 7, UINT64_MAX };
static const float every_f32[] = { -1.5F, 0, 0.25F };
static const double every_f64[] = { -1e300, 0, 0.1 };
static const int32_t every_date[] = { 0, 19723, -1 }; /* 1970-01-01, 2024-01-01, 1969-12-31 */
static const char *const every_text[] = { "", NULL, "rio Paran\xC3\xA1, \"x\"" };
static const uint8_t middle_null[] = { 1, 0, 1 };

static const columns_column every_column[] = {
    { "bool", COLUMNS_BOOL, every_bool, NULL }, { "bool?", COLUMNS_BOOL, every_bool, middle_null },
    { "i8", COLUMNS_I8, every_i8, NULL },       { "i16", COLUMNS_I16, every_i16, NULL },
    { "i32", COLUMNS_I32, every_i32, NULL },    { "i32?", COLUMNS_I32, every_i32, middle_null },
    { "i64", COLUMNS_I64, every_i64, NULL },    { "u8", COLUMNS_U8, every_u8, NULL },
    { "u16", COLUMNS_U16, every_u16, NULL },    { "u32", COLUMNS_U32, every_u32, NULL },
    { "u64", COLUMNS_U64, every_u64, NULL },    { "f32", COLUMNS_F32, every_f32, NULL },
    { "f64", COLUMNS_F64, every_f64, NULL },    { "f64?", COLUMNS_F64, every_f64, middle_null },
    { "date", COLUMNS_DATE, every_date, NULL }, { "text?", COLUMNS_TEXT, every_text, middle_null },
};
enum { EVERY = sizeof every_column / sizeof every_column[0] };
static const columns_table every_table = { 3, EVERY, every_column };

/* ---- the strict reader ----------------------------------------------------------------------- */

/* Fields that the writer leaves out are read here as well, to see that they are left out. */
static const flat_field message_fields[] = { { "version", FLAT_I16 },
                                             { "header_type", FLAT_U8 },
                                             { "header", FLAT_REF },
                                             { "bodyLength", FLAT_I64 },
                                             { "custom_metadata", FLAT_REF } };
static const flat_layout message_layout = { "Message", message_fields, 5 };
static const flat_field schema_fields[] = { { "endianness", FLAT_I16 }, { "fields", FLAT_REF } };
static const flat_layout schema_layout = { "Schema", schema_fields, 2 };
static const flat_field field_fields[] = { { "name", FLAT_REF },       { "nullable", FLAT_U8 },
                                           { "type_type", FLAT_U8 },   { "type", FLAT_REF },
                                           { "dictionary", FLAT_REF }, { "children", FLAT_REF } };
static const flat_layout field_layout = { "Field", field_fields, 6 };
static const flat_field batch_fields[] = { { "length", FLAT_I64 },
                                           { "nodes", FLAT_REF },
                                           { "buffers", FLAT_REF },
                                           { "compression", FLAT_REF } };
static const flat_layout batch_layout = { "RecordBatch", batch_fields, 4 };
static const flat_field footer_fields[] = { { "version", FLAT_I16 },
                                            { "schema", FLAT_REF },
                                            { "dictionaries", FLAT_REF },
                                            { "recordBatches", FLAT_REF } };
static const flat_layout footer_layout = { "Footer", footer_fields, 4 };
enum { TYPE_UTF8 = 5, TYPE_BOOL = 6 };

struct file {
    const char *bytes;
    size_t length;
    size_t batches, rows;
};

static int64_t i64_at(const void *bytes, size_t index)
{
    int64_t value;

    memcpy(&value, (const char *)bytes + index * sizeof value, sizeof value);
    return value;
}

static struct file open_file(scratch_arena *world)
{
    struct file file = { 0 };

    scratch_arena_expect(world,
                         guard_read_file(&file.bytes, &file.length, world->folder.fd, FILE_NAME,
                                         (size_t)1 << 30, world->arena, &world->err));
    return file;
}

/* A message: the marker, the length of the metadata, the metadata. @return where its body begins */
static size_t open_message(flat_reader *from, flat_view *message, const struct file *file,
                           size_t at)
{
    uint32_t prefix[2];

    assert_int_equal(at % 8, 0);
    assert_true(at + sizeof prefix <= file->length);
    memcpy(prefix, file->bytes + at, sizeof prefix);
    assert_int_equal(prefix[0], UINT32_MAX);
    assert_int_equal(prefix[1] % 8, 0);
    assert_true(at + 8 + prefix[1] <= file->length);
    flat_reader_begin(from, file->bytes + at + 8, prefix[1]);
    *message = flat_read_root(from, &message_layout);
    assert_int_equal(flat_get_i16(from, message, 0), 4);
    assert_int_equal(flat_get_items(from, message, 4, 4).count, 0);
    assert_int_equal(from->error.status, MCP_OK);
    return at + 8 + prefix[1];
}

/* The buffers of a record batch lie one behind the other, aligned, and fill the body; every column
 * has those of its type. */
static void check_batch(struct file *file, const parquet_column *schema, size_t columns, size_t at,
                        int64_t metadata_length, int64_t body_length)
{
    flat_reader from;
    flat_view message;
    size_t body = open_message(&from, &message, file, at), n = 0;

    assert_int_equal(body - at, metadata_length);
    assert_int_equal(flat_get_u8(&from, &message, 1), 3);
    assert_true(flat_get_i64(&from, &message, 3) == body_length);
    assert_true(body + (size_t)body_length <= file->length);
    flat_view batch = flat_get_table(&from, &message, 2, &batch_layout);
    flat_items nodes = flat_get_items(&from, &batch, 1, 8),
               places = flat_get_items(&from, &batch, 2, 8);
    int64_t rows = flat_get_i64(&from, &batch, 0), end = 0;
    assert_int_equal(flat_get_items(&from, &batch, 3, 1).count, 0);
    assert_int_equal(from.error.status, MCP_OK);
    assert_true(rows > 0 && rows <= ARROW_BATCH_ROWS);
    for (size_t i = 0; i < columns; i++) {
        assert_true(i64_at(nodes.bytes, 2 * i) == rows);
        size_t buffers = schema[i].type == COLUMNS_TEXT ? 3 : 2;
        for (size_t b = 0; b < buffers; b++, n++) {
            int64_t offset = i64_at(places.bytes, 2 * n), length = i64_at(places.bytes, 2 * n + 1);
            assert_true(offset == end && offset % 8 == 0);
            end += (length + 7) / 8 * 8;
            for (int64_t p = offset + length; p < end; p++)
                assert_int_equal(file->bytes[body + (size_t)p], 0);
        }
    }
    assert_true(end == body_length);
    file->batches++;
    file->rows += (size_t)rows;
}

/* The whole file, from its magic to its magic. */
static struct file check_file(scratch_arena *world, const parquet_column *schema, size_t columns)
{
    struct file file = open_file(world);
    flat_reader from;
    flat_view message;
    uint32_t footer_length = 0;

    assert_true(file.length > 30);
    assert_memory_equal(file.bytes, "ARROW1\0\0", 8);
    assert_memory_equal(file.bytes + file.length - 6, "ARROW1", 6);
    size_t next = open_message(&from, &message, &file, 8);
    assert_int_equal(flat_get_u8(&from, &message, 1), 1);
    memcpy(&footer_length, file.bytes + file.length - 10, 4);
    size_t footer_at = file.length - 10 - footer_length;
    flat_reader_begin(&from, file.bytes + footer_at, footer_length);
    flat_view footer = flat_read_root(&from, &footer_layout);
    flat_view described = flat_get_table(&from, &footer, 1, &schema_layout);
    flat_items fields = flat_get_items(&from, &described, 1, 4);
    assert_int_equal(fields.count, columns);
    for (size_t i = 0; i < columns; i++) {
        flat_view field = flat_get_table_item(&from, &fields, i, &field_layout);
        flat_items name = flat_get_items(&from, &field, 0, 1);
        assert_int_equal(name.count, strlen(schema[i].name));
        assert_memory_equal(name.bytes, schema[i].name, name.count);
        assert_int_equal(flat_get_u8(&from, &field, 1), schema[i].is_nullable);
        assert_int_equal(flat_get_u8(&from, &field, 2) == TYPE_UTF8,
                         schema[i].type == COLUMNS_TEXT);
        assert_int_equal(flat_get_u8(&from, &field, 2) == TYPE_BOOL,
                         schema[i].type == COLUMNS_BOOL);
        assert_int_equal(flat_get_table(&from, &field, 4, &field_layout).at, 0);
    }
    flat_items blocks = flat_get_items(&from, &footer, 3, 8);
    for (size_t i = 0; i < blocks.count; i++) { /* each of 24 bytes */
        int64_t offset = i64_at(blocks.bytes, 3 * i), body = i64_at(blocks.bytes, 3 * i + 2);
        int32_t metadata = (int32_t)i64_at(blocks.bytes, 3 * i + 1);
        assert_true((size_t)offset == next);
        check_batch(&file, schema, columns, next, metadata, body);
        next += (size_t)metadata + (size_t)body;
    }
    assert_int_equal(from.error.status, MCP_OK);
    /* The end of the stream, then the footer. */
    assert_int_equal(next + 8, footer_at);
    assert_memory_equal(file.bytes + next, "\xFF\xFF\xFF\xFF\0\0\0\0", 8);
    return file;
}

static struct file check_table(scratch_arena *world, const columns_table *table)
{
    parquet_column schema[EVERY];

    assert_true(table->column_count <= EVERY);
    for (size_t i = 0; i < table->column_count; i++) {
        const columns_column *column = &table->columns[i];
        schema[i] = (parquet_column){ column->name, column->type, column->valid != NULL };
    }
    return check_file(world, schema, table->column_count);
}

/* ---- the official reader --------------------------------------------------------------------- */

/* Node.js of node_modules. False: it, or Apache Arrow's package, is not there. */
static bool find_node(char node[PATH_MAX])
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char pattern[PATH_MAX];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/node_modules/apache-arrow/package.json",
             source ? source : ".");
    if (access(pattern, R_OK) != 0)
        return false;
    snprintf(pattern, sizeof pattern, "%s/node_modules/node-linux-*/bin/node",
             source ? source : ".");
    bool is_there = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
    if (is_there)
        snprintf(node, PATH_MAX, "%s", found.gl_pathv[0]);
    globfree(&found);
    return is_there;
}

/* What Apache Arrow reads: { fields: [{ name, type, nullable }], batches: n, rows: [[value]] };
 * 64-bit integers as strings. */
static const mcp_json *read_officially(scratch_arena *world)
{
    const char *source = getenv("CAUSEWAY_SOURCE"), *text = NULL;
    char node[PATH_MAX], script[PATH_MAX];
    const mcp_json *json = NULL;
    size_t length = 0;
    pid_t child = 0;
    int status = 0;

    if (!find_node(node)) {
        print_message("npm's package apache-arrow is not installed: run scripts/bootstrap\n");
        skip();
    }
    snprintf(script, sizeof script, "%s/tests/support/arrow-to-json.mjs", source ? source : ".");
    const char *arguments[] = { node, script, scratch_path(&world->folder, FILE_NAME),
                                scratch_path(&world->folder, "x.json"), NULL };
    assert_int_equal(posix_spawn(&child, node, NULL, NULL, (char *const *)arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    scratch_arena_expect(world, guard_read_file(&text, &length, world->folder.fd, "x.json",
                                                (size_t)1 << 28, world->arena, &world->err));
    scratch_arena_expect(world, mcp_json_read(&json, world->arena, text, length, &world->err));
    return json;
}

static void expect_json(scratch_arena *world, const mcp_json *found, const char *pointer,
                        const char *expected)
{
    const mcp_json *value = NULL;

    scratch_arena_expect(
        world, mcp_json_read(&value, world->arena, expected, strlen(expected), &world->err));
    if (!mcp_json_equal(mcp_json_pointer(found, pointer), value))
        fail_msg("%s is not %s", pointer, expected);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void every_type_is_laid_out_as_prescribed(void **state)
{
    scratch_arena *world = *state;

    scratch_arena_expect(
        world, columns_write_arrow(world->folder.fd, FILE_NAME, &every_table, &world->err));
    struct file file = check_table(world, &every_table);
    assert_int_equal(file.batches, 1);
    assert_int_equal(file.rows, 3);
    assert_int_not_equal(faccessat(world->folder.fd, FILE_NAME ".tmp", F_OK, 0), 0);
}

static void every_type_is_read_officially(void **state)
{
    scratch_arena *world = *state;

    scratch_arena_expect(
        world, columns_write_arrow(world->folder.fd, FILE_NAME, &every_table, &world->err));
    const mcp_json *read = read_officially(world);
    static const char *const expected[] = {
        "[true, true, -128, -32768, -2147483648, -2147483648, \"-9223372036854775808\", 0, 0, 0,"
        " \"0\", -1.5, -1e300, -1e300, \"1970-01-01\", \"\"]",
        "[false, null, 0, 0, 0, null, \"0\", 7, 7, 7, \"7\", 0, 0, null, \"2024-01-01\", null]",
        "[true, true, 127, 32767, 2147483647, 2147483647, \"9223372036854775807\", 255, 65535,"
        " 4294967295, \"18446744073709551615\", 0.25, 0.1, 0.1, \"1969-12-31\","
        " \"rio Paran\xC3\xA1, \\\"x\\\"\"]",
    };
    expect_json(world, read, "/rows/0", expected[0]);
    expect_json(world, read, "/rows/1", expected[1]);
    expect_json(world, read, "/rows/2", expected[2]);
    expect_json(world, read, "/fields/4",
                "{\"name\": \"i32\", \"type\": \"Int32\", \"nullable\": false}");
    expect_json(world, read, "/fields/10",
                "{\"name\": \"u64\", \"type\": \"Uint64\", \"nullable\": false}");
    expect_json(world, read, "/fields/15",
                "{\"name\": \"text?\", \"type\": \"Utf8\", \"nullable\": true}");
}

/* More rows than a record batch holds; nulls in the second alone, where no bitmap of the first may
 * be read for it. */
static void a_long_table_has_several_batches(void **state)
{
    enum { ROWS = ARROW_BATCH_ROWS + 11 };
    scratch_arena *world = *state;
    int32_t *numbers = calloc(ROWS, sizeof *numbers);
    uint8_t *valid = malloc(ROWS);

    assert_true(numbers && valid);
    memset(valid, 1, ROWS);
    for (int i = 0; i < ROWS; i++)
        numbers[i] = 7 * i;
    valid[ROWS - 2] = 0;
    const columns_column column = { "n", COLUMNS_I32, numbers, valid };
    const columns_table table = { ROWS, 1, &column };
    scratch_arena_expect(world,
                         columns_write_arrow(world->folder.fd, FILE_NAME, &table, &world->err));
    free(numbers);
    free(valid);
    struct file file = check_table(world, &table);
    assert_int_equal(file.batches, 2);
    assert_int_equal(file.rows, ROWS);
    const mcp_json *read = read_officially(world);
    expect_json(world, read, "/batches", "2");
    expect_json(world, read, "/rows/65535", "[458745]");
    expect_json(world, read, "/rows/65545", "[null]");
    expect_json(world, read, "/rows/65546", "[458822]");
}

static void a_table_without_rows_has_its_columns(void **state)
{
    scratch_arena *world = *state;
    const columns_table none = { 0, EVERY, every_column };

    scratch_arena_expect(world,
                         columns_write_arrow(world->folder.fd, FILE_NAME, &none, &world->err));
    struct file file = check_table(world, &none);
    assert_int_equal(file.rows, 0);
    const mcp_json *read = read_officially(world);
    assert_int_equal(mcp_json_count(mcp_json_get(read, "fields")), EVERY);
    expect_json(world, read, "/rows", "[]");
}

static void what_cannot_be_written_is_refused(void **state)
{
    scratch_arena *world = *state;
    const columns_column other = { "n", COLUMNS_OTHER, NULL, NULL };
    const columns_table refused[] = { { 0, 0, NULL }, { 1, 1, &other } };
    const parquet_column schema[] = { { "i32?", COLUMNS_I32, false } };
    const columns_table with_null = { 3, 1, &every_column[5] };
    const columns_table another = { 3, 1, &every_column[4] };
    arrow_writer *writer = NULL;

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(columns_write_arrow(world->folder.fd, FILE_NAME, &refused[i], &world->err),
                         MCP_E_PARAMS);
    scratch_arena_expect(
        world, arrow_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 1, &world->err));
    assert_int_equal(arrow_writer_append(writer, &another, &world->err), MCP_E_PARAMS);
    assert_int_equal(arrow_writer_append(writer, &with_null, NULL), MCP_E_PARAMS);
    assert_int_equal(arrow_writer_close(writer, &world->err), MCP_E_PARAMS);
    scratch_arena_expect(
        world, arrow_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 1, &world->err));
    assert_int_equal(arrow_writer_append(writer, &with_null, &world->err), MCP_E_PARAMS);
    assert_non_null(strstr(world->err.message, "'i32?' has a null"));
    arrow_writer_abort(writer);
    assert_int_not_equal(faccessat(world->folder.fd, FILE_NAME, F_OK, 0), 0);
    assert_int_not_equal(faccessat(world->folder.fd, FILE_NAME ".tmp", F_OK, 0), 0);
}

static void a_full_disk_keeps_the_old_file(void **state)
{
    scratch_arena *world = *state;
    struct rlimit whole, tight;

    scratch_write(&world->folder, FILE_NAME, "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &whole), 0);
    for (rlim_t bytes = 0; bytes <= 2000; bytes += 400) {
        tight = (struct rlimit){ bytes, whole.rlim_max };
        setrlimit(RLIMIT_FSIZE, &tight);
        mcp_status st = columns_write_arrow(world->folder.fd, FILE_NAME, &every_table, &world->err);
        setrlimit(RLIMIT_FSIZE, &whole);
        assert_int_equal(st, MCP_E_IO);
        assert_int_equal(open_file(world).length, 3);
        assert_int_not_equal(faccessat(world->folder.fd, FILE_NAME ".tmp", F_OK, 0), 0);
    }
}

int main(void)
{
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, scratch_arena_set_up, scratch_arena_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_type_is_laid_out_as_prescribed), TEST(every_type_is_read_officially),
        TEST(a_long_table_has_several_batches),     TEST(a_table_without_rows_has_its_columns),
        TEST(what_cannot_be_written_is_refused),    TEST(a_full_disk_keeps_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

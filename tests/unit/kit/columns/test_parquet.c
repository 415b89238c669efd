/*
 * test_parquet.c - what the writer writes, as DuckDB reads it: values, types, statistics, row
 * groups; and what is left when a file cannot be completed.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/engine.h"
#include "columns/parquet.h"
#include "oom.h"
#include "scratch.h"

#define FILE_NAME "x.parquet"

struct world {
    scratch folder;
    columns *reader;
    struct engine duckdb;
    mcp_arena *arena;
    mcp_error err;
};

static int set_up(void **state)
{
    static struct world world;

    scratch_open(&world.folder);
    world.arena = mcp_arena_new((size_t)1 << 30);
    assert_int_equal(columns_open(&world.reader, &world.err), MCP_OK);
    assert_int_equal(engine_open(&world.duckdb, &world.err), MCP_OK);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    engine_close(&world->duckdb);
    columns_close(world->reader);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return 0;
}

static void expect_ok(struct world *world, mcp_status st)
{
    if (st != MCP_OK)
        fail_msg("%s", world->err.message);
}

/* Write a table in batches of at most `batch` rows. */
static void write_batches(struct world *world, const parquet_column *schema,
                          const columns_table *table, size_t batch, const parquet_options *options)
{
    columns_column part[16];
    parquet_writer *writer = NULL;

    assert_true(table->column_count <= 16);
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, schema,
                                         table->column_count, options, &world->err));
    for (size_t first = 0; first < table->rows; first += batch) {
        size_t rows = table->rows - first < batch ? table->rows - first : batch;
        for (size_t i = 0; i < table->column_count; i++) {
            const columns_column *column = &table->columns[i];
            part[i] = *column;
            part[i].values = (const char *)column->values + first * columns_type_size(column->type);
            part[i].valid = column->valid ? column->valid + first : NULL;
        }
        const columns_table some = { rows, table->column_count, part };
        expect_ok(world, parquet_writer_append(writer, &some, &world->err));
    }
    expect_ok(world, parquet_writer_close(writer, &world->err));
}

static void write_one(struct world *world, const columns_column *column, size_t rows,
                      const parquet_options *options)
{
    const parquet_column schema = { column->name, column->type, column->valid != NULL };
    const columns_table table = { rows, 1, column };

    write_batches(world, &schema, &table, rows > 0 ? rows : 1, options);
}

static const columns_table *read_back(struct world *world)
{
    const columns_table *table = NULL;
    int fd = openat(world->folder.fd, FILE_NAME, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    expect_ok(world, columns_read(&table, world->reader, fd, NULL, world->arena, &world->err));
    close(fd);
    return table;
}

/* The rows of a query about the file; %s in it is the file. */
static size_t count_rows(struct world *world, const char *query)
{
    char sql[1000], file[64];
    duckdb_result result;
    int fd = openat(world->folder.fd, FILE_NAME, O_RDONLY | O_CLOEXEC);
    const char *mark = strstr(query, "%s");

    assert_true(fd >= 0 && mark);
    snprintf(file, sizeof file, "'/proc/self/fd/%d'", fd);
    snprintf(sql, sizeof sql, "%.*s%s%s", (int)(mark - query), query, file, mark + 2);
    if (engine_query(&world->duckdb, &result, sql, MCP_E_IO, &world->err) != MCP_OK)
        fail_msg("%s: %s", sql, world->err.message);
    size_t rows = world->duckdb.api->row_count(&result);
    world->duckdb.api->destroy_result(&result);
    close(fd);
    return rows;
}

/* Each is a condition on the rows of a table function of the file, of which one row fulfils it. */
static void expect_rows(struct world *world, const char *function, const char *condition)
{
    char query[900];

    snprintf(query, sizeof query, "SELECT 1 FROM %s(%%s) WHERE %s", function, condition);
    size_t rows = count_rows(world, query);
    if (rows != 1)
        fail_msg("%zu rows of %s fulfil %s", rows, function, condition);
}

static size_t open_files(struct world *world)
{
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        count += faccessat(world->folder.fd, i ? FILE_NAME ".tmp" : FILE_NAME, F_OK, 0) == 0;
    return count;
}

/* ---- values ---------------------------------------------------------------------------------- */

#define ROWS 3000

static uint8_t valid[ROWS], bools[ROWS], u8s[ROWS];
static int8_t i8s[ROWS];
static int16_t i16s[ROWS];
static uint16_t u16s[ROWS];
static int32_t i32s[ROWS], dates[ROWS];
static uint32_t u32s[ROWS];
static int64_t i64s[ROWS];
static uint64_t u64s[ROWS];
static float f32s[ROWS];
static double f64s[ROWS];
static const char *texts[ROWS];

static const parquet_column every_type[] = {
    { "bool", COLUMNS_BOOL, true }, { "i8", COLUMNS_I8, true },      { "i16", COLUMNS_I16, true },
    { "i32", COLUMNS_I32, true },   { "i64", COLUMNS_I64, true },    { "u8", COLUMNS_U8, true },
    { "u16", COLUMNS_U16, true },   { "u32", COLUMNS_U32, true },    { "u64", COLUMNS_U64, true },
    { "f32", COLUMNS_F32, true },   { "f64", COLUMNS_F64, true },    { "date", COLUMNS_DATE, true },
    { "text", COLUMNS_TEXT, true }, { "whole", COLUMNS_I64, false },
};
#define TYPES (sizeof every_type / sizeof every_type[0])

static void fill(columns_column columns[TYPES], bool has_nulls)
{
    static const void *const values[] = {
        bools, i8s, i16s, i32s, i64s, u8s, u16s, u32s, u64s, f32s, f64s, dates, texts, i64s,
    };
    static char words[ROWS][32];

    for (size_t i = 0; i < ROWS; i++) {
        uint64_t mixed = (i + 1) * 0x9E3779B97F4A7C15u;
        valid[i] = mixed >> 40 & 1;
        bools[i] = mixed >> 41 & 1;
        i8s[i] = (int8_t)mixed;
        u8s[i] = (uint8_t)mixed;
        i16s[i] = (int16_t)mixed;
        u16s[i] = (uint16_t)mixed;
        i32s[i] = (int32_t)mixed;
        u32s[i] = (uint32_t)mixed;
        dates[i] = (int32_t)(mixed >> 50);
        i64s[i] = (int64_t)mixed;
        u64s[i] = mixed;
        f32s[i] = (float)i / 7;
        f64s[i] = (double)mixed;
        snprintf(words[i], sizeof words[i], "\xC3\xA9t\xC3\xA9 %.*s %zu", (int)(i % 12),
                 "of several words", i);
        texts[i] = words[i];
    }
    for (size_t i = 0; i < TYPES; i++)
        columns[i] = (columns_column){ every_type[i].name, every_type[i].type, values[i],
                                       has_nulls && every_type[i].is_nullable ? valid : NULL };
}

static void expect_same(const columns_table *got, const columns_column *expected, size_t rows)
{
    assert_int_equal(got->rows, rows);
    for (size_t i = 0; i < got->column_count; i++) {
        size_t size = columns_type_size(expected[i].type);
        assert_string_equal(got->columns[i].name, expected[i].name);
        assert_int_equal(got->columns[i].type, expected[i].type);
        for (size_t row = 0; row < rows; row++) {
            const char *a = (const char *)got->columns[i].values + row * size;
            const char *b = (const char *)expected[i].values + row * size;
            assert_int_equal(columns_is_valid(&got->columns[i], row),
                             columns_is_valid(&expected[i], row));
            if (!columns_is_valid(&expected[i], row))
                continue;
            if (expected[i].type == COLUMNS_TEXT)
                assert_string_equal(*(char *const *)(const void *)a,
                                    *(char *const *)(const void *)b);
            else
                assert_memory_equal(a, b, size);
        }
    }
}

static void every_type_comes_back_however_it_is_cut(void **state)
{
    static const struct {
        size_t batch, group;
        parquet_codec codec;
        int level;
    } rows[] = {
        { ROWS, 0, PARQUET_ZSTD, 0 },  { ROWS, 0, PARQUET_UNCOMPRESSED, 0 },
        { 7, 1000, PARQUET_ZSTD, 1 },  { 1000, 7, PARQUET_UNCOMPRESSED, 0 },
        { ROWS, 1, PARQUET_ZSTD, 19 }, { 999, 1001, PARQUET_ZSTD, 3 },
    };
    struct world *world = *state;
    columns_column columns[TYPES];
    char condition[100];

    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        size_t group = rows[i / 2].group;
        const parquet_options options = {
            .codec = rows[i / 2].codec,
            .level = rows[i / 2].level,
            .row_group_rows = group,
        };
        const columns_table table = { ROWS, TYPES, columns };
        fill(columns, i % 2);
        write_batches(world, every_type, &table, rows[i / 2].batch, &options);
        expect_same(read_back(world), columns, ROWS);
        snprintf(condition, sizeof condition, "num_rows = %d AND num_row_groups = %zu", ROWS,
                 group ? (ROWS + group - 1) / group : 1);
        expect_rows(world, "parquet_file_metadata", condition);
    }
}

static void values_at_the_limits_come_back(void **state)
{
    static const double doubles[] = { NAN, INFINITY, -INFINITY, -0.0, 0.0, 5e-324, 1.7e308 };
    static const float floats[] = { NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-45f, 3.4e38f };
    static const int64_t i64[] = { INT64_MIN, INT64_MAX, 0, -1, 1, 2, 3 };
    static const uint64_t u64[] = { UINT64_MAX, 0, (uint64_t)1 << 63, 1, 2, 3, 4 };
    static const int32_t i32[] = { INT32_MIN, INT32_MAX, 0, -1, 1, 2, 3 };
    static const uint32_t u32[] = { UINT32_MAX, 0, (uint32_t)1 << 31, 1, 2, 3, 4 };
    static const int8_t i8[] = { INT8_MIN, INT8_MAX, 0, -1, 1, 2, 3 };
    static const int32_t days[] = { -719162, 2932896, 0, -1, 1, 19000, 2 }; /* years 1 to 9999 */
    struct world *world = *state;
    char *longest = malloc((1 << 20) + 1);
    const char *words[] = { "", longest, "\xF0\x9F\x98\x80", "", "a", "\x7F", "" };
    const columns_column columns[] = {
        { "f64", COLUMNS_F64, doubles, NULL }, { "f32", COLUMNS_F32, floats, NULL },
        { "i64", COLUMNS_I64, i64, NULL },     { "u64", COLUMNS_U64, u64, NULL },
        { "i32", COLUMNS_I32, i32, NULL },     { "u32", COLUMNS_U32, u32, NULL },
        { "i8", COLUMNS_I8, i8, NULL },        { "date", COLUMNS_DATE, days, NULL },
        { "text", COLUMNS_TEXT, words, NULL },
    };
    const columns_table table = { 7, sizeof columns / sizeof columns[0], columns };

    memset(longest, 'x', 1 << 20);
    longest[1 << 20] = '\0';
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, 7);
    free(longest);
}

/* Several pages a column, of which some have no null, some nothing else, and some are mixed. */
static void many_pages_follow_one_another(void **state)
{
    enum { MANY = 600000 };
    struct world *world = *state;
    double *numbers = calloc(MANY, sizeof *numbers);
    const char **words = calloc(MANY, sizeof *words);
    uint8_t *flags = calloc(MANY, 1), *some = calloc(MANY, 1);
    const columns_column columns[] = { { "f64", COLUMNS_F64, numbers, some },
                                       { "text", COLUMNS_TEXT, words, some },
                                       { "bool", COLUMNS_BOOL, flags, some },
                                       { "whole", COLUMNS_F64, numbers, NULL } };
    const parquet_column schema[] = { { "f64", COLUMNS_F64, true },
                                      { "text", COLUMNS_TEXT, true },
                                      { "bool", COLUMNS_BOOL, true },
                                      { "whole", COLUMNS_F64, false } };
    const parquet_options options = { .row_group_rows = MANY };
    const columns_table table = { MANY, 4, columns };
    static char room[1000][24];

    for (size_t i = 0; i < 1000; i++)
        snprintf(room[i], sizeof room[i], "the word number %zu", i);
    for (size_t i = 0; i < MANY; i++) {
        some[i] = i < MANY / 3 || (i < 2 * MANY / 3 ? 0 : i % 3 != 0);
        numbers[i] = (double)(i % 5000);
        words[i] = room[i * 31 % 1000];
        flags[i] = i % 5 == 0;
    }
    write_batches(world, schema, &table, 70001, &options);
    expect_same(read_back(world), columns, MANY);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 1");
    free(numbers);
    free(words);
    free(flags);
    free(some);
}

static void an_empty_table_has_its_columns(void **state)
{
    struct world *world = *state;
    columns_column columns[TYPES];
    const columns_table table = { 0, TYPES, columns };

    fill(columns, true);
    write_batches(world, every_type, &table, 1, NULL);
    expect_same(read_back(world), columns, 0);
    expect_rows(world, "parquet_file_metadata", "num_row_groups = 0");
}

static void columns_may_be_all_null(void **state)
{
    static const uint8_t none[100];
    struct world *world = *state;
    const columns_column columns[] = { { "a", COLUMNS_TEXT, texts, none },
                                       { "b", COLUMNS_F64, f64s, none },
                                       { "c", COLUMNS_BOOL, bools, none } };
    const columns_table table = { 100, 3, columns };

    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, 100);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'b' AND stats_null_count = 100 AND stats_min_value IS NULL");
}

static void tables_may_be_wide(void **state)
{
    static char names[PARQUET_COLUMNS_MAX + 1][8];
    static columns_column columns[PARQUET_COLUMNS_MAX + 1];
    static const int32_t numbers[] = { 1, 2, 3 };
    struct world *world = *state;
    columns_table table = { 3, PARQUET_COLUMNS_MAX, columns };

    for (size_t i = 0; i <= PARQUET_COLUMNS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        columns[i] = (columns_column){ names[i], COLUMNS_I32, numbers, NULL };
    }
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    assert_int_equal(read_back(world)->column_count, PARQUET_COLUMNS_MAX);
    table.column_count++;
    assert_int_equal(columns_write(world->folder.fd, FILE_NAME, &table, &world->err), MCP_E_PARAMS);
}

/* ---- types and statistics -------------------------------------------------------------------- */

static void types_and_annotations_are_those_of_the_format(void **state)
{
    static const char *const expected[] = {
        "name = 'bool' AND type = 'BOOLEAN' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'i8' AND type = 'INT32' AND converted_type = 'INT_8' AND "
        "logical_type LIKE '%bitWidth=%' AND logical_type LIKE '%isSigned=1%'",
        "name = 'i16' AND type = 'INT32' AND converted_type = 'INT_16'",
        "name = 'i32' AND type = 'INT32' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'i64' AND type = 'INT64' AND converted_type IS NULL AND logical_type IS NULL",
        "name = 'u8' AND type = 'INT32' AND converted_type = 'UINT_8'",
        "name = 'u16' AND type = 'INT32' AND converted_type = 'UINT_16'",
        "name = 'u32' AND type = 'INT32' AND converted_type = 'UINT_32' AND "
        "logical_type LIKE '%isSigned=0%'",
        "name = 'u64' AND type = 'INT64' AND converted_type = 'UINT_64'",
        "name = 'f32' AND type = 'FLOAT' AND converted_type IS NULL",
        "name = 'f64' AND type = 'DOUBLE' AND converted_type IS NULL",
        "name = 'date' AND type = 'INT32' AND converted_type = 'DATE' AND logical_type LIKE 'Date%'",
        "name = 'text' AND type = 'BYTE_ARRAY' AND converted_type = 'UTF8' AND "
        "logical_type LIKE 'String%' AND repetition_type = 'OPTIONAL'",
        "name = 'whole' AND type = 'INT64' AND repetition_type = 'REQUIRED'",
    };
    struct world *world = *state;
    columns_column columns[TYPES];
    const columns_table table = { ROWS, TYPES, columns };

    fill(columns, true);
    write_batches(world, every_type, &table, ROWS, NULL);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        expect_rows(world, "parquet_schema", expected[i]);
}

static void statistics_are_in_the_order_of_the_type(void **state)
{
    static const uint8_t some[] = { 1, 1, 1, 0 };
    static const uint32_t u32[] = { 5, UINT32_MAX, 7, 0 };
    static const uint64_t u64[] = { 5, UINT64_MAX, 7, 0 };
    static const int8_t i8[] = { 5, -128, 127, 0 };
    static const int64_t i64[] = { INT64_MIN, 3, -1, 0 };
    static const double f64[] = { 0.5, 2.5, -1.5, -9 }, zeros[] = { 0.0, -0.0, 0.0, 0.0 };
    static const double nans[] = { 1, NAN, 2, 3 };
    static const float f32[] = { -2.5f, -0.0f, -7.25f, 1 };
    static const uint8_t flags[] = { 1, 0, 1, 1 };
    static const int32_t days[] = { 0, 365, -1, 9999 };
    static const char *const words[] = { "b", "\xC3\xA9", "aa", NULL };
    static const char *const long_words[] = {
        "0123456789012345678901234567890123456789012345678901234567890123456789", "1", "2", NULL
    };
    static const columns_column columns[] = {
        { "u32", COLUMNS_U32, u32, some },      { "u64", COLUMNS_U64, u64, some },
        { "i8", COLUMNS_I8, i8, some },         { "i64", COLUMNS_I64, i64, some },
        { "f64", COLUMNS_F64, f64, some },      { "zeros", COLUMNS_F64, zeros, some },
        { "nans", COLUMNS_F64, nans, some },    { "f32", COLUMNS_F32, f32, some },
        { "flags", COLUMNS_BOOL, flags, some }, { "days", COLUMNS_DATE, days, some },
        { "words", COLUMNS_TEXT, words, some }, { "long", COLUMNS_TEXT, long_words, some },
        { "required", COLUMNS_I64, i64, NULL },
    };
    static const char *const expected[] = {
        "'u32' AND stats_min_value = '5' AND stats_max_value = '4294967295'",
        "'u64' AND stats_min_value = '5' AND stats_max_value = '18446744073709551615'",
        "'i8' AND stats_min_value = '-128' AND stats_max_value = '127'",
        "'i64' AND stats_min_value = '-9223372036854775808' AND stats_max_value = '3'",
        "'f64' AND stats_min_value = '-1.5' AND stats_max_value = '2.5'",
        "'zeros' AND stats_min_value = '-0.0' AND stats_max_value = '0.0'",
        "'nans' AND stats_min_value IS NULL AND stats_max_value IS NULL",
        "'f32' AND stats_min_value = '-7.25' AND stats_max_value = '0.0'",
        "'flags' AND stats_min_value = 'false' AND stats_max_value = 'true'",
        "'days' AND stats_min_value = '1969-12-31' AND stats_max_value = '1971-01-01'",
        "'words' AND stats_min_value = 'aa' AND stats_max_value = '\xC3\xA9'",
        "'long' AND stats_min_value IS NULL AND stats_max_value = '2'",
        "'required' AND stats_min_value = '-9223372036854775808' AND stats_max_value = '3'",
    };
    struct world *world = *state;
    const columns_table table = { 4, sizeof columns / sizeof columns[0], columns };
    char condition[200];

    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        snprintf(condition, sizeof condition,
                 "path_in_schema = %s AND stats_null_count = %d AND num_values = 4", expected[i],
                 strstr(expected[i], "'required'") ? 0 : 1);
        expect_rows(world, "parquet_metadata", condition);
    }
}

/* Row groups of ten rows, so that a bound that is wrong would hide rows. */
static void filters_give_the_rows_that_are_there(void **state)
{
    static const struct {
        const char *condition;
        size_t rows;
    } queries[] = {
        { "u64 >= 9223372036854775808", 50 },
        { "u64 < 50", 50 },
        { "u64 = 18446744073709551615", 1 },
        { "u32 > 4294967190", 100 },
        { "i8 < -20", 30 },
        { "f64 > 1e300", 3 },
        { "isnan(f64)", 2 },
        { "f64 < -1e300", 1 },
        { "zero = 0", 100 },
        { "zero < 0", 0 },
        { "text > 'z'", 100 },
        { "text = 'zz 42'", 1 },
        { "text < 'z'", 0 },
        { "maybe IS NULL", 50 },
        { "maybe > 90", 25 },
        { "u64 > 20 AND u64 < 40", 19 },
    };
    static uint64_t u64[100];
    static uint32_t u32[100];
    static int8_t i8[100];
    static double f64[100], zero[100];
    static uint8_t some[100];
    static const char *words[100];
    static char room[100][8];
    static const columns_column columns[] = {
        { "u64", COLUMNS_U64, u64, NULL },     { "u32", COLUMNS_U32, u32, NULL },
        { "i8", COLUMNS_I8, i8, NULL },        { "f64", COLUMNS_F64, f64, NULL },
        { "zero", COLUMNS_F64, zero, NULL },   { "maybe", COLUMNS_U64, u64, some },
        { "text", COLUMNS_TEXT, words, NULL },
    };
    static const parquet_column schema[] = {
        { "u64", COLUMNS_U64, false },   { "u32", COLUMNS_U32, false },
        { "i8", COLUMNS_I8, false },     { "f64", COLUMNS_F64, false },
        { "zero", COLUMNS_F64, false },  { "maybe", COLUMNS_U64, true },
        { "text", COLUMNS_TEXT, false },
    };
    const parquet_options options = { .row_group_rows = 10 };
    const columns_table table = { 100, sizeof columns / sizeof columns[0], columns };
    struct world *world = *state;
    char query[200];

    for (size_t i = 0; i < 100; i++) {
        u64[i] = i < 50 ? i : UINT64_MAX - (99 - i);
        u32[i] = UINT32_MAX - (uint32_t)i;
        i8[i] = (int8_t)(i < 70 ? (int)i : -(int)i);
        f64[i] = i % 40 == 5 ? (i == 5 ? NAN : i == 45 ? NAN : INFINITY) : (double)i;
        zero[i] = i % 2 ? -0.0 : 0.0;
        some[i] = i % 2;
        snprintf(room[i], sizeof room[i], "zz %zu", i);
        words[i] = room[i];
    }
    f64[61] = -INFINITY;
    write_batches(world, schema, &table, 33, &options);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        snprintf(query, sizeof query, "SELECT 1 FROM read_parquet(%%s) WHERE %s",
                 queries[i].condition);
        size_t rows = count_rows(world, query);
        if (rows != queries[i].rows)
            fail_msg("%zu rows where %s", rows, queries[i].condition);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void the_file_says_who_wrote_it_and_what_it_is_given(void **state)
{
    static const parquet_pair pairs[] = { { "case", "1dtoy" }, { "empty", "" }, { "flag", NULL } };
    const parquet_options options = { .metadata = pairs, .metadata_count = 3 };
    const columns_column column = { "x", COLUMNS_I32, i32s, NULL };
    struct world *world = *state;

    write_one(world, &column, 10, &options);
    expect_rows(world, "parquet_file_metadata",
                "created_by = 'causeway version " CAUSEWAY_VERSION "'");
    expect_rows(world, "parquet_kv_metadata", "key = 'case'::BLOB AND value = '1dtoy'::BLOB");
    assert_int_equal(count_rows(world, "SELECT 1 FROM parquet_kv_metadata(%s)"), 3);
}

static void numbers_that_no_codec_shortens_are_not_compressed(void **state)
{
    static int64_t ones[ROWS];
    const columns_column columns[] = { { "any", COLUMNS_I64, i64s, NULL },
                                       { "zeros", COLUMNS_I64, ones, NULL } };
    const columns_table table = { ROWS, 2, columns };
    columns_column filled[TYPES];
    struct world *world = *state;

    fill(filled, false);
    expect_ok(world, columns_write(world->folder.fd, FILE_NAME, &table, &world->err));
    expect_same(read_back(world), columns, ROWS);
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'any' AND compression = 'UNCOMPRESSED'");
    expect_rows(world, "parquet_metadata",
                "path_in_schema = 'zeros' AND compression = 'ZSTD' AND "
                "total_compressed_size < 100 AND "
                "total_uncompressed_size > 24000");
}

/* A varint in zigzag order of a page header's field, which has the type i32. */
static int64_t header_field(const uint8_t **at)
{
    uint64_t value = 0;

    assert_int_equal(**at & 0x0F, 5);
    (*at)++;
    for (unsigned shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 0x7F) << shift;
        if (*(*at)++ < 0x80)
            break;
    }
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* One column, so that its pages follow the magic; the headers are walked until the footer. */
static void pages_are_about_a_mebibyte(void **state)
{
    enum { MANY = 600000 };
    struct world *world = *state;
    double *numbers = calloc(MANY, sizeof *numbers);
    const columns_column column = { "x", COLUMNS_F64, numbers, NULL };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED, .row_group_rows = MANY };
    struct stat about;

    write_one(world, &column, MANY, &options);
    int fd = openat(world->folder.fd, FILE_NAME, O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &about), 0);
    uint8_t *bytes = malloc((size_t)about.st_size);
    assert_int_equal(read(fd, bytes, (size_t)about.st_size), about.st_size);
    close(fd);
    const uint8_t *at = bytes + 4;
    size_t values = 0;
    assert_memory_equal(bytes, "PAR1", 4);
    while (values < MANY) {
        assert_int_equal(header_field(&at), 0); /* DATA_PAGE */
        int64_t unpacked = header_field(&at), packed = header_field(&at);
        assert_in_range(unpacked, 8, 1 << 20);
        assert_int_equal(packed, unpacked);
        assert_int_equal(*at++, 0x2C); /* field 5, a struct */
        values += (size_t)header_field(&at);
        for (int i = 0; i < 3; i++)
            header_field(&at);
        at += 2 + packed; /* the ends of two structs, and the page */
    }
    assert_int_equal(values, MANY);
    assert_memory_equal(bytes + about.st_size - 4, "PAR1", 4);
    free(bytes);
    free(numbers);
}

/* 200 MiB of texts do not wait in memory for the rows of a row group. */
static void long_texts_end_a_row_group_early(void **state)
{
    enum { LENGTH = 1 << 20, COUNT = 200 };
    struct world *world = *state;
    const parquet_column schema = { "text", COLUMNS_TEXT, false };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED };
    parquet_writer *writer = NULL;
    char *text = malloc(LENGTH + 1);
    const char *values[10];
    const columns_column column = { "text", COLUMNS_TEXT, values, NULL };
    const columns_table table = { 10, 1, &column };

    memset(text, 't', LENGTH);
    text[LENGTH] = '\0';
    for (size_t i = 0; i < 10; i++)
        values[i] = text;
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, &options,
                                         &world->err));
    for (int i = 0; i < COUNT / 10; i++)
        expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    expect_ok(world, parquet_writer_close(writer, &world->err));
    free(text);
    expect_rows(world, "parquet_file_metadata",
                "num_rows = 200 AND num_row_groups BETWEEN 3 AND 4");
    assert_int_equal(count_rows(world, "SELECT 1 FROM read_parquet(%s) "
                                       "WHERE text = repeat('t', 1048576)"),
                     COUNT);
}

static void a_text_without_a_bound_is_refused(void **state)
{
    struct world *world = *state;
    char *text = malloc(PARQUET_ROW_TEXT_MAX + 2);
    const char *values[] = { "short", text };
    const columns_column column = { "text", COLUMNS_TEXT, values, NULL };
    const columns_table table = { 2, 1, &column };

    memset(text, 't', PARQUET_ROW_TEXT_MAX + 1);
    text[PARQUET_ROW_TEXT_MAX + 1] = '\0';
    assert_int_equal(columns_write(world->folder.fd, FILE_NAME, &table, &world->err), MCP_E_LIMIT);
    assert_non_null(strstr(world->err.message, "row 1"));
    assert_int_equal(open_files(world), 0);
    free(text);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static void wrong_columns_are_refused(void **state)
{
    static const parquet_column wrong[][2] = {
        { { "a", COLUMNS_OTHER, false }, { "b", COLUMNS_I32, false } },
        { { "a", COLUMNS_I32, false }, { "a", COLUMNS_F64, false } },
        { { "a", COLUMNS_I32, false }, { "", COLUMNS_F64, false } },
    };
    static const parquet_column right = { "a", COLUMNS_I32, false };
    const parquet_options levels[] = { { .level = 99 }, { .level = -3 } };
    struct world *world = *state;
    parquet_writer *writer = NULL;
    int fd = world->folder.fd;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(
            parquet_writer_open(&writer, fd, FILE_NAME, wrong[i], 2, NULL, &world->err),
            MCP_E_PARAMS);
    assert_int_equal(parquet_writer_open(&writer, fd, FILE_NAME, &right, 0, NULL, &world->err),
                     MCP_E_PARAMS);
    assert_int_equal(parquet_writer_open(&writer, fd, "a/b", &right, 1, NULL, &world->err),
                     MCP_E_PARAMS);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            parquet_writer_open(&writer, fd, FILE_NAME, &right, 1, &levels[i], &world->err),
            MCP_E_PARAMS);
    assert_null(writer);
    assert_int_equal(open_files(world), 0);
}

/* A batch that does not fit ends the file: it comes to nothing, and the cause stays. */
static void a_batch_that_does_not_fit_is_refused(void **state)
{
    static const int32_t numbers[] = { 1, 2 };
    static const uint8_t half[] = { 1, 0 };
    static const char *const none[] = { "x", NULL };
    static const columns_column batches[][2] = {
        { { "n", COLUMNS_I64, i64s, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "m", COLUMNS_I32, numbers, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, numbers, half }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, NULL, NULL }, { "t", COLUMNS_TEXT, texts, NULL } },
        { { "n", COLUMNS_I32, numbers, NULL }, { "t", COLUMNS_TEXT, none, NULL } },
    };
    static const parquet_column schema[] = { { "n", COLUMNS_I32, false },
                                             { "t", COLUMNS_TEXT, true } };
    const columns_column right[] = { { "n", COLUMNS_I32, numbers, NULL },
                                     { "t", COLUMNS_TEXT, none, half } };
    columns_column filled[TYPES];
    struct world *world = *state;

    fill(filled, false);
    for (size_t i = 0; i < 1 + sizeof batches / sizeof batches[0]; i++) {
        const columns_table good = { 2, 2, right };
        const columns_table bad = { 2, i == 0 ? 1 : 2, i == 0 ? right : batches[i - 1] };
        parquet_writer *writer = NULL;
        expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, schema, 2, NULL,
                                             &world->err));
        expect_ok(world, parquet_writer_append(writer, &good, &world->err));
        assert_int_equal(parquet_writer_append(writer, &bad, &world->err), MCP_E_PARAMS);
        mcp_error again = MCP_ERROR_INIT;
        assert_int_equal(parquet_writer_append(writer, &good, &again), MCP_E_PARAMS);
        assert_string_equal(again.message, world->err.message);
        assert_int_equal(parquet_writer_close(writer, &again), MCP_E_PARAMS);
        assert_string_equal(again.message, world->err.message);
        assert_int_equal(open_files(world), 0);
    }
}

static void an_aborted_file_leaves_the_old_one(void **state)
{
    const columns_column column = { "x", COLUMNS_I32, i32s, NULL };
    const parquet_column schema = { "x", COLUMNS_I32, false };
    const columns_table table = { 10, 1, &column };
    struct world *world = *state;
    parquet_writer *writer = NULL;

    write_one(world, &column, 5, NULL);
    size_t before = scratch_open_descriptors();
    expect_ok(world, parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, NULL,
                                         &world->err));
    expect_ok(world, parquet_writer_append(writer, &table, &world->err));
    assert_int_equal(open_files(world), 2);
    parquet_writer_abort(writer);
    parquet_writer_abort(NULL);
    assert_int_equal(scratch_open_descriptors(), before);
    assert_int_equal(open_files(world), 1);
    assert_int_equal(read_back(world)->rows, 5);
}

/* A limit of file sizes stands for a disk that is full: some bytes are written, then no more. */
static void a_full_disk_leaves_no_file_and_its_cause(void **state)
{
    static double numbers[300000];
    const columns_column column = { "x", COLUMNS_F64, numbers, NULL };
    const parquet_column schema = { "x", COLUMNS_F64, false };
    const columns_table table = { 300000, 1, &column };
    const parquet_options options = { .codec = PARQUET_UNCOMPRESSED, .row_group_rows = 100000 };
    static const rlim_t limits[] = { 0, 100, 1000000, 2400000 };
    struct world *world = *state;
    struct rlimit before, now;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    size_t descriptors = scratch_open_descriptors();
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        parquet_writer *writer = NULL;
        mcp_error err = MCP_ERROR_INIT;
        now = (struct rlimit){ limits[i], before.rlim_max };
        assert_int_equal(
            parquet_writer_open(&writer, world->folder.fd, FILE_NAME, &schema, 1, &options, &err),
            MCP_OK);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
        mcp_status appended = parquet_writer_append(writer, &table, &err);
        mcp_status st = parquet_writer_close(writer, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(appended, limits[i] < 2400000 ? MCP_E_IO : MCP_OK);
        assert_int_equal(st, MCP_E_IO);
        assert_non_null(strstr(err.message, "File too large"));
        assert_non_null(strstr(err.message, FILE_NAME));
        assert_int_equal(open_files(world), 0);
    }
    signal(SIGXFSZ, handler);
    assert_int_equal(scratch_open_descriptors(), descriptors);
}

static mcp_status write_everything(void *data)
{
    static const parquet_pair pair = { "key", "value" };
    const parquet_options options = { .row_group_rows = 100, .metadata = &pair, 1 };
    struct world *world = data;
    parquet_writer *writer = NULL;
    columns_column columns[TYPES];
    const columns_table table = { 250, TYPES, columns };

    fill(columns, true);
    mcp_status st = parquet_writer_open(&writer, world->folder.fd, FILE_NAME, every_type, TYPES,
                                        &options, &world->err);
    if (st == MCP_OK)
        st = parquet_writer_append(writer, &table, &world->err);
    if (st == MCP_OK)
        return parquet_writer_close(writer, &world->err);
    parquet_writer_abort(writer);
    assert_int_equal(open_files(world), 0);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    struct world *world = *state;

    oom_walk(write_everything, world);
    assert_int_equal(read_back(world)->rows, 250);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(every_type_comes_back_however_it_is_cut),
        EACH(values_at_the_limits_come_back),
        EACH(many_pages_follow_one_another),
        EACH(an_empty_table_has_its_columns),
        EACH(columns_may_be_all_null),
        EACH(tables_may_be_wide),
        EACH(types_and_annotations_are_those_of_the_format),
        EACH(statistics_are_in_the_order_of_the_type),
        EACH(filters_give_the_rows_that_are_there),
        EACH(the_file_says_who_wrote_it_and_what_it_is_given),
        EACH(numbers_that_no_codec_shortens_are_not_compressed),
        EACH(pages_are_about_a_mebibyte),
        EACH(long_texts_end_a_row_group_early),
        EACH(a_text_without_a_bound_is_refused),
        EACH(wrong_columns_are_refused),
        EACH(a_batch_that_does_not_fit_is_refused),
        EACH(an_aborted_file_leaves_the_old_one),
        EACH(a_full_disk_leaves_no_file_and_its_cause),
        EACH(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

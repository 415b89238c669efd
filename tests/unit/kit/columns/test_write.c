/*
 * test_write.c - what is written comes back, in the Parquet types that the file format promises.
 */
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/columns_int.h"
#include "scratch.h"

#define ROWS 5000 /* more than two of DuckDB's chunks */

struct world {
    scratch folder;
    columns *engine;
    mcp_arena *arena;
    mcp_error err;
};

static int set_up(void **state)
{
    static struct world world;

    scratch_open(&world.folder);
    world.arena = mcp_arena_new(0);
    assert_int_equal(columns_open(&world.engine, &world.err), MCP_OK);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    columns_close(world->engine);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return 0;
}

static const columns_table *read_back(struct world *world, const char *name)
{
    const columns_table *table = NULL;
    int fd = openat(world->folder.fd, name, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    mcp_status st = columns_read(&table, world->engine, fd, NULL, world->arena, &world->err);
    if (st != MCP_OK)
        fail_msg("%s: %s", name, world->err.message);
    close(fd);
    return table;
}

static uint8_t valid[ROWS];
static uint8_t bools[ROWS];
static int8_t i8s[ROWS];
static int16_t i16s[ROWS];
static int32_t i32s[ROWS], dates[ROWS];
static int64_t i64s[ROWS];
static uint8_t u8s[ROWS];
static uint16_t u16s[ROWS];
static uint32_t u32s[ROWS];
static uint64_t u64s[ROWS];
static float f32s[ROWS];
static double f64s[ROWS];
static const char *texts[ROWS];
static char text_room[ROWS][40];

static const columns_column every_type[] = {
    { "bool", COLUMNS_BOOL, bools, valid }, { "i8", COLUMNS_I8, i8s, valid },
    { "i16", COLUMNS_I16, i16s, valid },    { "i32", COLUMNS_I32, i32s, valid },
    { "i64", COLUMNS_I64, i64s, valid },    { "u8", COLUMNS_U8, u8s, valid },
    { "u16", COLUMNS_U16, u16s, valid },    { "u32", COLUMNS_U32, u32s, valid },
    { "u64", COLUMNS_U64, u64s, valid },    { "f32", COLUMNS_F32, f32s, valid },
    { "f64", COLUMNS_F64, f64s, valid },    { "date", COLUMNS_DATE, dates, valid },
    { "text", COLUMNS_TEXT, texts, valid }, { "whole", COLUMNS_I32, i32s, NULL },
};
#define TYPES (sizeof every_type / sizeof every_type[0])

/* The extremes first, then anything; each third row is missing. */
static void fill(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        valid[i] = i % 3 != 2;
        bools[i] = i % 2;
        i8s[i] = (int8_t)(i % 256 - 128);
        i16s[i] = i == 0 ? INT16_MIN : i == 1 ? INT16_MAX : (int16_t)i;
        i32s[i] = i == 0 ? INT32_MIN : i == 1 ? INT32_MAX : (int32_t)i * -7;
        i64s[i] = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : (int64_t)i << 33;
        u8s[i] = (uint8_t)i;
        u16s[i] = i == 1 ? UINT16_MAX : (uint16_t)i;
        u32s[i] = i == 1 ? UINT32_MAX : (uint32_t)i;
        u64s[i] = i == 1 ? UINT64_MAX : i;
        f32s[i] = i == 0 ? FLT_MAX : i == 1 ? FLT_TRUE_MIN : (float)i / 3;
        f64s[i] = i == 0 ? -DBL_MAX : i == 1 ? DBL_TRUE_MIN : i == 3 ? INFINITY : (double)i / 3;
        dates[i] = (int32_t)i - 2500;
        snprintf(text_room[i], sizeof text_room[i],
                 i % 2 ? "\xC3\xA9t\xC3\xA9 %zu" : "row number %zu of many", i);
        texts[i] = i == 0 ? "" : text_room[i];
    }
}

static void assert_same(const columns_column *got, const columns_column *expected)
{
    size_t size = columns_type_row(expected->type)->size;

    assert_string_equal(got->name, expected->name);
    assert_int_equal(got->type, expected->type);
    for (size_t row = 0; row < ROWS; row++) {
        assert_int_equal(columns_is_valid(got, row), columns_is_valid(expected, row));
        if (!columns_is_valid(expected, row))
            continue;
        const char *a = (const char *)got->values + row * size;
        const char *b = (const char *)expected->values + row * size;
        if (expected->type == COLUMNS_TEXT)
            assert_string_equal(*(const char *const *)(const void *)a,
                                *(const char *const *)(const void *)b);
        else
            assert_memory_equal(a, b, size);
    }
}

static void every_type_comes_back(void **state)
{
    struct world *world = *state;
    const columns_table table = { .rows = ROWS, .column_count = TYPES, .columns = every_type };

    fill();
    assert_int_equal(columns_write(world->folder.fd, "all.parquet", &table, &world->err), MCP_OK);
    const columns_table *back = read_back(world, "all.parquet");
    assert_int_equal(back->rows, ROWS);
    assert_int_equal(back->column_count, TYPES);
    for (size_t i = 0; i < TYPES; i++)
        assert_same(&back->columns[i], &every_type[i]);
    assert_null(columns_find(back, "whole")->valid);
    assert_int_equal(((const int32_t *)columns_find(back, "i32")->values)[2], 0);
    assert_null(((const char *const *)columns_find(back, "text")->values)[2]);
}

/* Physical type and annotation of each type: the output page, section 2. */
static void types_are_those_of_the_format(void **state)
{
    static const char *const expected[][3] = {
        { "i8", "INT32", "INT_8" },    { "i32", "INT32", "INT_32" },
        { "i64", "INT64", "INT_64" },  { "u32", "INT32", "UINT_32" },
        { "u64", "INT64", "UINT_64" }, { "f64", "DOUBLE", NULL },
        { "bool", "BOOLEAN", NULL },   { "text", "BYTE_ARRAY", "UTF8" },
        { "date", "INT32", "DATE" },
    };
    struct world *world = *state;
    const columns_table table = { .rows = ROWS, .column_count = TYPES, .columns = every_type };
    struct engine engine = { 0 };

    fill();
    assert_int_equal(columns_write(world->folder.fd, "all.parquet", &table, &world->err), MCP_OK);
    int fd = openat(world->folder.fd, "all.parquet", O_RDONLY | O_CLOEXEC);
    assert_int_equal(engine_open(&engine, &world->err), MCP_OK);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char sql[300];
        duckdb_result result;
        snprintf(sql, sizeof sql,
                 "SELECT 1 FROM parquet_schema('/proc/self/fd/%d') WHERE name = '%s' "
                 "AND type = '%s' AND (converted_type IS NULL OR converted_type = '%s')",
                 fd, expected[i][0], expected[i][1], expected[i][2] ? expected[i][2] : "none");
        assert_int_equal(engine_query(&engine, &result, sql, MCP_E_IO, &world->err), MCP_OK);
        if (engine.api->row_count(&result) != 1)
            fail_msg("column %s is not %s", expected[i][0], expected[i][1]);
        engine.api->destroy_result(&result);
    }
    engine_close(&engine);
    close(fd);
}

static void no_rows_are_a_file_too(void **state)
{
    struct world *world = *state;
    const columns_table table = { .rows = 0, .column_count = TYPES, .columns = every_type };

    assert_int_equal(columns_write(world->folder.fd, "none.parquet", &table, &world->err), MCP_OK);
    const columns_table *back = read_back(world, "none.parquet");
    assert_int_equal(back->rows, 0);
    assert_int_equal(back->column_count, TYPES);
    assert_int_equal(columns_find(back, "u64")->type, COLUMNS_U64);
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
    static const double values[] = { 1.5, 2.5 };
    static const columns_column column = { "x", COLUMNS_F64, values, NULL };
    static const columns_column twice[] = { { "x", COLUMNS_F64, values, NULL },
                                            { "x", COLUMNS_F64, values, NULL } };
    static const columns_column other = { "x", COLUMNS_OTHER, NULL, NULL };
    struct world *world = *state;
    columns_table table = { .rows = 1, .column_count = 1, .columns = &column };
    struct stat st;

    assert_int_equal(columns_write(world->folder.fd, "x.parquet", &table, &world->err), MCP_OK);
    table.rows = 2;
    assert_int_equal(columns_write(world->folder.fd, "x.parquet", &table, &world->err), MCP_OK);
    table.columns = &other;
    assert_int_equal(columns_write(world->folder.fd, "x.parquet", &table, &world->err),
                     MCP_E_PARAMS);
    table.columns = twice;
    table.column_count = 2;
    assert_int_equal(columns_write(world->folder.fd, "x.parquet", &table, &world->err),
                     MCP_E_PARAMS);
    table.column_count = 0;
    assert_int_equal(columns_write(world->folder.fd, "x.parquet", &table, &world->err),
                     MCP_E_PARAMS);
    table.columns = &column;
    table.column_count = 1;
    assert_int_equal(columns_write(world->folder.fd, "a/x.parquet", &table, &world->err),
                     MCP_E_PARAMS);
    assert_int_equal(read_back(world, "x.parquet")->rows, 2);
    assert_int_equal(fstatat(world->folder.fd, "x.parquet.tmp", &st, 0), -1);
}

/* Two files of one schema, then another schema: nothing may be left over from the file before. */
static void files_follow_one_another(void **state)
{
    static const int32_t one[] = { 1, 2, 3 }, two[] = { 4 };
    static const char *const names[] = { "a", "b" };
    const columns_column a = { "n", COLUMNS_I32, one, NULL }, b = { "n", COLUMNS_I32, two, NULL };
    const columns_column c = { "s", COLUMNS_TEXT, names, NULL };
    const columns_table tables[] = { { 3, 1, &a }, { 1, 1, &b }, { 2, 1, &c } };
    struct world *world = *state;

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(columns_write(world->folder.fd, "t.parquet", &tables[i], &world->err),
                         MCP_OK);
    assert_string_equal(((const char *const *)read_back(world, "t.parquet")->columns[0].values)[1],
                        "b");
    assert_int_equal(columns_write(world->folder.fd, "t.parquet", &tables[1], &world->err), MCP_OK);
    assert_int_equal(((const int32_t *)read_back(world, "t.parquet")->columns[0].values)[0], 4);
    assert_int_equal(read_back(world, "t.parquet")->rows, 1);
}

struct worker {
    struct world *world;
    int32_t number;
    bool is_right;
};

/* Writes a file of its own number again and again, and reads it back each time. */
static void *write_and_read(void *data)
{
    struct worker *worker = data;
    const columns_column column = { "n", COLUMNS_I32, &worker->number, NULL };
    const columns_table table = { 1, 1, &column };
    mcp_arena *arena = mcp_arena_new(0);
    char name[32];

    worker->is_right = true;
    snprintf(name, sizeof name, "%d.parquet", (int)worker->number);
    for (int i = 0; i < 20 && worker->is_right; i++) {
        const columns_table *back = NULL;
        mcp_status st = columns_write(worker->world->folder.fd, name, &table, NULL);
        int fd = openat(worker->world->folder.fd, name, O_RDONLY | O_CLOEXEC);
        if (st == MCP_OK)
            st = columns_read(&back, worker->world->engine, fd, NULL, arena, NULL);
        worker->is_right = st == MCP_OK && back->rows == 1 &&
                           *(const int32_t *)back->columns[0].values == worker->number;
        close(fd);
    }
    mcp_arena_free(arena);
    return NULL;
}

static void threads_may_share_one(void **state)
{
    pthread_t threads[4];
    struct worker workers[4];

    for (int32_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){ *state, i, false };
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, &workers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(workers[i].is_right);
    }
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(every_type_comes_back),    EACH(types_are_those_of_the_format),
        EACH(no_rows_are_a_file_too),   EACH(a_file_is_replaced_whole_or_not_at_all),
        EACH(files_follow_one_another), EACH(threads_may_share_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

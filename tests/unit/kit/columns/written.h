/*
 * written.h - a file of the Parquet writer, what DuckDB says of it, and a table of every type.
 */
#ifndef TESTS_COLUMNS_WRITTEN_H
#define TESTS_COLUMNS_WRITTEN_H

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/engine.h"
#include "columns/parquet.h"
#include "scratch.h"

#define FILE_NAME "x.parquet"

struct world {
    scratch folder;
    columns *reader;
    struct engine duckdb;
    mcp_arena *arena;
    mcp_error err;
};

static inline int set_up(void **state)
{
    static struct world world;

    scratch_open(&world.folder);
    world.arena = mcp_arena_new((size_t)1 << 30);
    assert_int_equal(columns_open(&world.reader, &world.err), MCP_OK);
    assert_int_equal(engine_open(&world.duckdb, &world.err), MCP_OK);
    *state = &world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;

    engine_close(&world->duckdb);
    columns_close(world->reader);
    mcp_arena_free(world->arena);
    scratch_close(&world->folder);
    return 0;
}

static inline void expect_ok(struct world *world, mcp_status st)
{
    if (st != MCP_OK)
        fail_msg("%s", world->err.message);
}

/* Write a table in batches of at most `batch` rows. */
static inline void write_batches(struct world *world, const parquet_column *schema,
                                 const columns_table *table, size_t batch,
                                 const parquet_options *options)
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

static inline void write_one(struct world *world, const columns_column *column, size_t rows,
                             const parquet_options *options)
{
    const parquet_column schema = { column->name, column->type, column->valid != NULL };
    const columns_table table = { rows, 1, column };

    write_batches(world, &schema, &table, rows > 0 ? rows : 1, options);
}

static inline const columns_table *read_back(struct world *world)
{
    const columns_table *table = NULL;
    int fd = openat(world->folder.fd, FILE_NAME, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    expect_ok(world, columns_read(&table, world->reader, fd, NULL, world->arena, &world->err));
    close(fd);
    return table;
}

/* The rows of a query about the file; %s in it is the file. */
static inline size_t count_rows(struct world *world, const char *query)
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
static inline void expect_rows(struct world *world, const char *function, const char *condition)
{
    char query[900];

    snprintf(query, sizeof query, "SELECT 1 FROM %s(%%s) WHERE %s", function, condition);
    size_t rows = count_rows(world, query);
    if (rows != 1)
        fail_msg("%zu rows of %s fulfil %s", rows, function, condition);
}

static inline size_t open_files(struct world *world)
{
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        count += faccessat(world->folder.fd, i ? FILE_NAME ".tmp" : FILE_NAME, F_OK, 0) == 0;
    return count;
}

/* ---- a table of every type ------------------------------------------------------------------- */

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

static inline void fill(columns_column columns[TYPES], bool has_nulls)
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

static inline void expect_same(const columns_table *got, const columns_column *expected,
                               size_t rows)
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

#endif

/*
 * asking.h - queries over files of a test's own, and their answers as JSON.
 */
#ifndef TESTS_CASPARIAN_ASKING_H
#define TESTS_CASPARIAN_ASKING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "columns/parquet.h"
#include "mcp/clock.h"
#include "query/query.h"
#include "scratch.h"

#define FILES_MAX 16
#define HASH_A "aaaaaaaa11111111111111111111111111111111111111111111111111111111"
#define HASH_B "bbbbbbbb22222222222222222222222222222222222222222222222222222222"

/* A query with its catalog, and the last answer. */
typedef struct world {
    scratch folder;
    char cache_dir[4096];
    casparian_query *query;
    casparian_catalog_file files[FILES_MAX];
    char places[FILES_MAX][4096];
    casparian_catalog catalog;
    mcp_arena *arena;
    casparian_query_failure failure;
    casparian_query_facts facts; /* counts alone may be read */
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];
    mcp_buf answer; /* columns and rows */
    mcp_error err;
} world;

/* With these settings; the reader, the folder of the cache and the missing limit are added. */
static inline void world_open(world *self, casparian_query_settings settings)
{
    static const char *const reader[] = { SEALED_READER, "sealed-reader", NULL };

    scratch_open(&self->folder);
    snprintf(self->cache_dir, sizeof self->cache_dir, "%s", scratch_path(&self->folder, "cache"));
    settings.worker = reader;
    settings.cache_dir = self->cache_dir;
    self->arena = mcp_arena_new(0);
    mcp_buf_init(&self->answer, (size_t)64 << 20);
    self->catalog = (casparian_catalog){ .version = 1, .files = self->files };
    if (casparian_query_open(&self->query, &settings, &self->err) != MCP_OK)
        fail_msg("%s", self->err.message);
}

static inline void world_close(world *self)
{
    casparian_query_close(self->query);
    mcp_arena_free(self->arena);
    mcp_buf_clear(&self->answer);
    scratch_close(&self->folder);
}

static inline int set_up(void **state)
{
    static world self;

    memset(&self, 0, sizeof self);
    world_open(&self, (casparian_query_settings){ 0 });
    *state = &self;
    return 0;
}

static inline int tear_down(void **state)
{
    world_close(*state);
    return 0;
}

/* A file of the catalog at `name` in the folder; the caller fills the rest. */
static inline casparian_catalog_file *add_file(world *self, const char *output, const char *format,
                                               const char *name, int64_t job)
{
    size_t index = self->catalog.count++;

    assert_true(index < FILES_MAX);
    snprintf(self->places[index], sizeof self->places[index], "%s",
             scratch_path(&self->folder, name));
    self->files[index] = (casparian_catalog_file){
        .output = output,
        .format = format,
        .location = self->places[index],
        .schema_hash = HASH_A,
        .job_id = job,
        .created_ms = job,
    };
    self->catalog.version++;
    return &self->files[index];
}

/* A Parquet file of the columns id, name and _cf_source_hash. */
static inline casparian_catalog_file *add_rows(world *self, const char *output, int64_t job,
                                               size_t rows, const int64_t *ids,
                                               const char *const *names, const char *const *sources)
{
    columns_column columns[] = {
        { .name = "id", .type = COLUMNS_I64, .values = ids },
        { .name = "name", .type = COLUMNS_TEXT, .values = names },
        { .name = "_cf_source_hash", .type = COLUMNS_TEXT, .values = sources },
    };
    columns_table table = { rows, 3, columns };
    char name[64];
    int dir = self->folder.fd;

    snprintf(name, sizeof name, "%.20s_%d.parquet", output, (int)job);
    if (columns_write(dir, name, &table, &self->err) != MCP_OK)
        fail_msg("%s", self->err.message);
    return add_file(self, output, "parquet", name, job);
}

static inline mcp_status ask_request(world *self, const casparian_query_request *request,
                                     const casparian_redaction *redaction)
{
    casparian_query_result *result = NULL;
    casparian_query_written written;
    mcp_json_writer writer;
    mcp_status st;

    memset(&self->failure, 0, sizeof self->failure);
    mcp_buf_reset(&self->answer);
    st = casparian_query_run(&result, self->query, &self->catalog, request, &self->failure,
                             self->arena, &self->err);
    if (st != MCP_OK)
        return st;
    self->facts = *casparian_query_result_facts(result);
    mcp_json_writer_init(&writer, &self->answer);
    assert_int_equal(casparian_query_write_rows(&written, &writer, result, redaction,
                                                &(casparian_query_room){ .bytes_max = 1 << 20 }),
                     MCP_OK);
    casparian_query_result_cursor(self->cursor, result, written.rows);
    casparian_query_result_free(result);
    return MCP_OK;
}

static inline mcp_status ask(world *self, const char *sql)
{
    return ask_request(self, &(casparian_query_request){ .sql = sql, .length = strlen(sql) }, NULL);
}

/* The rows of a statement are these. */
static inline void expect_rows(world *self, const char *sql, const char *rows)
{
    if (ask(self, sql) != MCP_OK)
        fail_msg("%s: %s", sql, self->err.message);
    if (strcmp(self->answer.data, rows) != 0)
        fail_msg("%s: %s instead of %s", sql, self->answer.data, rows);
}

/* It fails with that code. */
static inline void expect_code(world *self, const char *sql, const char *code)
{
    mcp_status st = ask(self, sql);

    if (st == MCP_OK)
        fail_msg("%s: answered %s", sql, self->answer.data);
    if (strcmp(self->failure.code, code) != 0)
        fail_msg("%s: %s (%s) instead of %s", sql, self->failure.code, self->failure.message, code);
}

#endif

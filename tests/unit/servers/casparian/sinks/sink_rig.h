/*
 * sink_rig.h - a sink in a folder of its own, batches for it, and what DuckDB says of its files.
 */
#ifndef TESTS_CASPARIAN_SINK_RIG_H
#define TESTS_CASPARIAN_SINK_RIG_H

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/engine.h"
#include "scratch.h"
#include "sinks/commit.h"
#include "sinks/sink.h"

#define HASH_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define HASH_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define AT "2024-05-06T07:08:09Z"

/* Files of outputs of job 42 (casparian's data model, 9.2). */
#define EVENTS "events_73475cb40a568e8d"

typedef struct rig {
    scratch folder;
    mcp_arena *arena;
    mcp_error err;
    casparian_sink_uri uri;
    casparian_definition events;
} rig;

static const casparian_manifest_facts plain_facts = { .created_at = "2024-05-06T07:08:10Z",
                                                      .program = "casparian 0.1.0",
                                                      .artifact_hash = HASH_B };

#define MUST(rig, call)                                                                            \
    do {                                                                                           \
        if ((call) != MCP_OK)                                                                      \
            fail_msg("%s: %s", #call, (rig)->err.message);                                         \
    } while (0)

static inline casparian_definition definition_of(rig *rig, const char *text)
{
    const mcp_json *json = NULL;
    casparian_definition made = { .count = 0 };

    MUST(rig, mcp_json_read(&json, rig->arena, text, strlen(text), &rig->err));
    MUST(rig, casparian_definition_read(&made, rig->arena, json, NULL, NULL, &rig->err));
    return made;
}

static inline int rig_open(void **state)
{
    static rig rig;

    rig.err = (mcp_error)MCP_ERROR_INIT;
    scratch_open(&rig.folder);
    rig.arena = mcp_arena_new((size_t)1 << 30);
    rig.events = definition_of(&rig, "{\"output_name\":\"events\",\"columns\":["
                                     "{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false},"
                                     "{\"name\":\"note\",\"type\":\"string\"}]}");
    *state = &rig;
    return 0;
}

static inline int rig_close(void **state)
{
    rig *rig = *state;

    mcp_arena_free(rig->arena);
    scratch_close(&rig->folder);
    return 0;
}

static inline casparian_sink *open_sink_of(rig *rig, const char *uri, const char *job,
                                           bool is_single_file, size_t memory_max)
{
    casparian_sink *sink = NULL;

    MUST(rig, casparian_sink_uri_read(&rig->uri, rig->arena, uri, rig->folder.path, &rig->err));
    const casparian_sink_options options = { .uri = &rig->uri,
                                             .dir_fd = rig->folder.fd,
                                             .job = job,
                                             .plugin = "demo",
                                             .version = "1.2.0",
                                             .is_single_file = is_single_file,
                                             .memory_max = memory_max };
    MUST(rig, casparian_sink_open(&sink, &options, &rig->err));
    return sink;
}

static inline casparian_sink *open_sink(rig *rig, const char *uri)
{
    return open_sink_of(rig, uri, "42", false, 0);
}

static inline casparian_sink_output *add_table(rig *rig, casparian_sink *sink,
                                               const casparian_definition *definition,
                                               unsigned flags)
{
    casparian_sink_output *output = NULL;

    MUST(rig, casparian_sink_add(&output, sink, 0, definition, flags, &rig->err));
    return output;
}

static inline casparian_sink_file *begin_file(rig *rig, casparian_sink *sink)
{
    casparian_sink_file *file = NULL;

    MUST(rig, casparian_sink_file_begin(&file, sink, AT, &rig->err));
    return file;
}

/* Append `rows` rows of events: ids from `first` on, "note <id>" or null for every third. */
static inline mcp_status append_events(rig *rig, casparian_sink_file *file,
                                       casparian_sink_output *output, int64_t first, size_t rows)
{
    int64_t *ids = calloc(rows, sizeof *ids);
    uint32_t *offsets = calloc(rows + 1, sizeof *offsets);
    char *bytes = calloc(rows, 32);
    uint8_t *valid = calloc(rows / 8 + 1, 1);

    for (size_t i = 0; i < rows; i++) {
        ids[i] = first + (int64_t)i;
        offsets[i + 1] = offsets[i];
        if (ids[i] % 3 == 0)
            continue;
        valid[i / 8] |= (uint8_t)(1 << i % 8);
        offsets[i + 1] += (uint32_t)snprintf(bytes + offsets[i], 32, "note %lld",
                                             (long long)ids[i]);
    }
    const casparian_vector columns[] = {
        { .name = "id", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = ids },
        { .name = "note",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .valid = valid,
          .offsets = offsets,
          .bytes = bytes },
    };
    const casparian_batch batch = { rows, 2, columns };
    mcp_status st = casparian_sink_append(file, output, &batch, &rig->err);
    /* The sink has copied them. */
    memset(ids, 0xFF, rows * sizeof *ids);
    free(ids);
    free(offsets);
    free(bytes);
    free(valid);
    return st;
}

static inline void commit_all(rig *rig, casparian_sink *sink)
{
    casparian_commit *commit = NULL;

    MUST(rig, casparian_commit_prepare(&commit, sink, &plain_facts, &rig->err));
    MUST(rig, casparian_commit_apply(commit, &rig->err));
    casparian_commit_free(commit);
}

/* One file of one table with a few rows, committed. */
static inline void write_job(rig *rig, const char *uri, const char *job, int64_t first, size_t rows)
{
    casparian_sink *sink = open_sink_of(rig, uri, job, false, 0);
    casparian_sink_output *output = add_table(rig, sink, &rig->events, 0);
    casparian_sink_file *file = begin_file(rig, sink);

    MUST(rig, append_events(rig, file, output, first, rows));
    MUST(rig, casparian_sink_file_commit(file, HASH_A, &rig->err));
    commit_all(rig, sink);
}

/* The only integer of a query; %s in it is the file, by its descriptor. */
static inline int64_t ask(rig *rig, const char *file, const char *query)
{
    struct engine duckdb = { .api = NULL };
    char sql[2000], name[40];
    duckdb_result result;
    int fd = openat(rig->folder.fd, file, O_RDONLY | O_CLOEXEC);
    const char *mark = strstr(query, "%s");

    if (fd < 0)
        fail_msg("there is no file %s", file);
    snprintf(name, sizeof name, "'/proc/self/fd/%d'", fd);
    snprintf(sql, sizeof sql, "SELECT (%.*s%s%s)::BIGINT", (int)(mark - query), query, name,
             mark + 2);
    MUST(rig, engine_open(&duckdb, &rig->err));
    if (engine_query(&duckdb, &result, sql, MCP_E_IO, &rig->err) != MCP_OK)
        fail_msg("%s: %s", sql, rig->err.message);
    duckdb_data_chunk chunk = duckdb.api->fetch_chunk(result);
    int64_t number = *(int64_t *)duckdb.api->vector_get_data(
        duckdb.api->data_chunk_get_vector(chunk, 0));
    duckdb.api->destroy_data_chunk(&chunk);
    duckdb.api->destroy_result(&result);
    engine_close(&duckdb);
    close(fd);
    return number;
}

/* How many rows of a Parquet file fulfil a condition. */
static inline int64_t count_where(rig *rig, const char *file, const char *condition)
{
    char query[1800];

    snprintf(query, sizeof query, "SELECT count(*) FROM read_parquet(%%s) WHERE %s", condition);
    return ask(rig, file, query);
}

/* A small file's text, in a buffer of the arena. */
static inline const char *text_of(rig *rig, const char *file)
{
    char *text = mcp_arena_alloc(rig->arena, 65536);
    int fd = openat(rig->folder.fd, file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, 65535) : -1;

    if (length < 0)
        fail_msg("there is no file %s", file);
    close(fd);
    return text;
}

static inline bool has_file(const rig *rig, const char *file)
{
    return faccessat(rig->folder.fd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

#endif

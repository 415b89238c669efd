/*
 * casparian-sinks.c - how fast outputs are written: 5,000,000 rows of six columns (an int64, two
 * strings, a decimal(38, 10), a timestamp_tz with nulls, a double) and the four of lineage, in
 * batches of 50,000.
 *
 * "writer" is the Parquet writer alone on one thread; "parquet" and "csv" are a whole sink, whose
 * rows are copied and written by a thread of its own while this one makes the next batch, and
 * whose file is flushed to disk and hashed. Rows a second of processor time (all threads, so other
 * load does not count) and of elapsed time. The files are in TMPDIR, by default /tmp. Meaningful in
 * Release.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "columns/parquet.h"
#include "guard/paths.h"
#include "sinks/commit.h"
#include "sinks/sink.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROWS = 50000, BATCHES = BENCH(100, 2), COLUMNS = 6 };

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SCHEMA                                                                                     \
    "{\"output_name\":\"trades\",\"columns\":["                                                    \
    "{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false},"                                     \
    "{\"name\":\"symbol\",\"type\":\"string\",\"nullable\":false},"                                \
    "{\"name\":\"note\",\"type\":\"string\",\"nullable\":false},"                                  \
    "{\"name\":\"price\",\"type\":\"decimal(38,10)\",\"nullable\":false},"                         \
    "{\"name\":\"at\",\"type\":\"timestamp_tz(UTC)\"},"                                            \
    "{\"name\":\"size\",\"type\":\"float64\",\"nullable\":false}]}"

static int64_t ids[ROWS], moments[ROWS];
static casparian_int128 prices[ROWS];
static double sizes[ROWS];
static uint8_t flags[ROWS], bits[ROWS / 8 + 1];
static uint32_t symbols[ROWS + 1], notes[ROWS + 1];
static char symbol_bytes[ROWS * 16], note_bytes[ROWS * 40];

static char folder[256];
static int dir_fd = -1;

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("casparian-sinks: %s", err->message);
}

static void fill(void)
{
    uint64_t state = 1;

    for (size_t i = 0; i < ROWS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ids[i] = (int64_t)i;
        moments[i] = INT64_C(1700000000000000) + (int64_t)i * 1000;
        prices[i] = (casparian_int128)(state >> 20) * 1000;
        sizes[i] = (double)(state >> 40);
        flags[i] = i % 10 != 0;
        bits[i / 8] |= (uint8_t)(flags[i] << i % 8);
        symbols[i + 1] = symbols[i] + (uint32_t)snprintf(symbol_bytes + symbols[i], 16, "SYM%u",
                                                         (unsigned)(state >> 54));
        notes[i + 1] = notes[i] + (uint32_t)snprintf(note_bytes + notes[i], 40, "order %llu of day",
                                                     (unsigned long long)(state >> 36));
    }
}

static void say(const char *name, double cpu, double elapsed, const char *file)
{
    struct stat about = { 0 };
    double millions = (double)ROWS * BATCHES / 1e6;

    fstatat(dir_fd, file, &about, 0);
    printf("casparian-sinks %-8s %5.2f M rows  %6.2f M rows/s of processor time  %6.2f M rows/s "
           "elapsed  %7.1f MB  peak %.0f MiB\n",
           name, millions, millions / cpu, millions / elapsed, (double)about.st_size / 1e6,
           bench_peak_mib());
    unlinkat(dir_fd, file, 0);
}

static void run_writer(void)
{
    static const parquet_column schema[] = {
        { "id", COLUMNS_I64, false },          { "symbol", COLUMNS_STRING, false },
        { "note", COLUMNS_STRING, false },     { "price", COLUMNS_DECIMAL, false },
        { "at", COLUMNS_TIMESTAMP_UTC, true }, { "size", COLUMNS_F64, false },
    };
    static const parquet_decimal decimals[COLUMNS] = { [3] = { 38, 10 } };
    const columns_texts texts[] = { { symbols, symbol_bytes }, { notes, note_bytes } };
    const columns_column columns[] = {
        { "id", COLUMNS_I64, ids, NULL },
        { "symbol", COLUMNS_STRING, &texts[0], NULL },
        { "note", COLUMNS_STRING, &texts[1], NULL },
        { "price", COLUMNS_DECIMAL, prices, NULL },
        { "at", COLUMNS_TIMESTAMP_UTC, moments, flags },
        { "size", COLUMNS_F64, sizes, NULL },
    };
    const columns_table table = { ROWS, COLUMNS, columns };
    const parquet_options options = { .codec = PARQUET_SNAPPY, .decimals = decimals };
    mcp_error err = MCP_ERROR_INIT;
    parquet_writer *writer = NULL;
    double cpu = bench_cpu_seconds();
    int64_t begin = bench_now_ns();

    must(parquet_writer_open(&writer, dir_fd, "w.parquet", schema, COLUMNS, &options, &err), &err);
    for (int i = 0; i < BATCHES; i++)
        must(parquet_writer_append(writer, &table, &err), &err);
    must(parquet_writer_close(writer, &err), &err);
    say("writer", bench_cpu_seconds() - cpu, (double)(bench_now_ns() - begin) * 1e-9, "w.parquet");
}

static void append_all(casparian_sink *sink, casparian_sink_output *output)
{
    static const casparian_vector columns[] = {
        { .name = "id", .type = { .kind = CASPARIAN_KIND_INT64 }, .values = ids },
        { .name = "symbol",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .offsets = symbols,
          .bytes = symbol_bytes },
        { .name = "note",
          .type = { .kind = CASPARIAN_KIND_STRING },
          .offsets = notes,
          .bytes = note_bytes },
        { .name = "price",
          .type = { .kind = CASPARIAN_KIND_DECIMAL, .decimal = { 38, 10 } },
          .values = prices },
        { .name = "at",
          .type = { .kind = CASPARIAN_KIND_TIMESTAMP_TZ },
          .valid = bits,
          .values = moments },
        { .name = "size", .type = { .kind = CASPARIAN_KIND_FLOAT64 }, .values = sizes },
    };
    static const casparian_batch batch = { ROWS, COLUMNS, columns };
    mcp_error err = MCP_ERROR_INIT;
    casparian_sink_file *file = NULL;

    must(casparian_sink_file_begin(&file, sink, "2024-01-01T00:00:00Z", &err), &err);
    must(casparian_sink_file_identify(file, HASH, &err), &err);
    for (int i = 0; i < BATCHES; i++)
        must(casparian_sink_append(file, output, &batch, &err), &err);
    must(casparian_sink_file_commit(file, HASH, &err), &err);
}

static void run_sink(const char *kind, const char *job, mcp_arena *arena)
{
    static const casparian_manifest_facts facts = { .created_at = "2024-01-01T00:00:00Z",
                                                    .program = "bench",
                                                    .artifact_hash = HASH };
    mcp_error err = MCP_ERROR_INIT;
    casparian_sink_uri uri;
    casparian_definition definition;
    casparian_sink *sink = NULL;
    casparian_sink_output *output = NULL;
    casparian_commit *commit = NULL;
    const mcp_json *json = NULL;
    size_t count = 0;
    char text[40];

    snprintf(text, sizeof text, "%s://.", kind);
    must(casparian_sink_uri_read(&uri, arena, text, folder, &err), &err);
    must(mcp_json_read(&json, arena, SCHEMA, strlen(SCHEMA), &err), &err);
    must(casparian_definition_read(&definition, arena, json, NULL, NULL, &err), &err);
    const casparian_sink_options options = { .uri = &uri,
                                             .dir_fd = dir_fd,
                                             .job = job,
                                             .plugin = "bench",
                                             .version = "1",
                                             .is_single_file = true };
    double cpu = bench_cpu_seconds();
    int64_t begin = bench_now_ns();
    must(casparian_sink_open(&sink, &options, &err), &err);
    must(casparian_sink_add(&output, sink, 0, &definition, 0, &err), &err);
    append_all(sink, output);
    must(casparian_commit_prepare(&commit, sink, &facts, &err), &err);
    must(casparian_commit_apply(commit, &err), &err);
    snprintf(text, sizeof text, "%s", casparian_commit_written(commit, &count)[0].file);
    say(kind, bench_cpu_seconds() - cpu, (double)(bench_now_ns() - begin) * 1e-9, text);
    casparian_commit_free(commit);
}

int main(void)
{
    const char *temporary = getenv("TMPDIR");
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(0);

    snprintf(folder, sizeof folder, "%s/bench-sinks-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        bench_give_up("casparian-sinks: no folder for the files");
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fill();
    run_writer();
    run_sink("parquet", "1", arena);
    run_sink("csv", "2", arena);
    must(guard_remove_tree(dir_fd, CASPARIAN_MANIFEST_DIR, &err), &err);
    mcp_arena_free(arena);
    close(dir_fd);
    rmdir(folder);
    return 0;
}

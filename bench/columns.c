/*
 * columns.c - how fast a Parquet file is written: our writer against DuckDB's COPY of the same
 * table, for a file of a simulated scenario (240 rows, 31 columns) and a large one (1,000,000 rows,
 * 10 columns).
 *
 * Both create a file, write it with zstd on one thread and rename it, in turns: one round of ours,
 * one of DuckDB's. Times are processor times of the process, so other load on the machine does not
 * count. Each round gives a ratio, of which the median counts. DuckDB has the table in its memory
 * before the clock starts. The files are in TMPDIR, by default /tmp. Meaningful in Release.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "columns/columns.h"
#include "columns/engine.h"
#include "guard/paths.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROUNDS = BENCH(15, 2), SMALL_FILES = BENCH(40, 2), COLUMNS_MOST = 31 };
enum { SMALL_ROWS = 240, LARGE_ROWS = BENCH(1000000, 10000) };

typedef struct bench_table {
    const char *name;
    columns_table table;
    columns_column columns[COLUMNS_MOST];
    char names[COLUMNS_MOST][16];
} bench_table;

static char folder[256];
static int dir_fd = -1;
static struct engine duckdb;

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("columns: %s", err->message);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        bench_give_up("columns: no memory");
    return memory;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static double next_value(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static columns_column *add_column(bench_table *to, columns_type type)
{
    size_t i = to->table.column_count++;
    columns_column *column = &to->columns[i];

    snprintf(to->names[i], sizeof to->names[i], "column_%zu", i);
    column->name = to->names[i];
    column->type = type;
    column->values = room(to->table.rows, columns_type_size(type));
    to->table.columns = to->columns;
    return column;
}

/* i / repeat % count in each row. */
static void add_integers(bench_table *to, columns_type type, size_t repeat, size_t count)
{
    columns_column *column = add_column(to, type);

    for (size_t i = 0; i < to->table.rows; i++) {
        if (type == COLUMNS_I8)
            ((int8_t *)column->values)[i] = (int8_t)(i / repeat % count);
        else if (type == COLUMNS_I32)
            ((int32_t *)column->values)[i] = (int32_t)(i / repeat % count);
        else
            ((int64_t *)column->values)[i] = (int64_t)(i / repeat % count);
    }
}

/* Numbers that differ, of which the first `share` of 8 rows are not zero. */
static void add_numbers(bench_table *to, size_t share)
{
    columns_column *column = add_column(to, COLUMNS_F64);

    for (size_t i = 0; i < to->table.rows; i++)
        ((double *)column->values)[i] = i % 8 < share ? 1000 * next_value() : 0.0;
}

static void add_nullable(bench_table *to)
{
    add_numbers(to, 8);
    uint8_t *valid = room(to->table.rows, 1);
    for (size_t i = 0; i < to->table.rows; i++)
        valid[i] = i % 5 != 0;
    to->columns[to->table.column_count - 1].valid = valid;
}

/* As a scenario's hydros: keys, decisions, and slacks that are mostly zero. */
static void fill_small(bench_table *to)
{
    *to = (bench_table){ .name = "small", .table = { .rows = SMALL_ROWS } };
    add_integers(to, COLUMNS_I32, 4, 60);
    add_integers(to, COLUMNS_I32, 1, 1);
    add_integers(to, COLUMNS_I32, 1, 4);
    for (size_t i = 0; i < 12; i++)
        add_numbers(to, 8);
    add_nullable(to);
    add_nullable(to);
    add_integers(to, COLUMNS_I8, 1, 4);
    add_integers(to, COLUMNS_I8, 1, 1);
    while (to->table.column_count < COLUMNS_MOST)
        add_numbers(to, to->table.column_count % 4 == 0);
}

static void fill_large(bench_table *to)
{
    *to = (bench_table){ .name = "large", .table = { .rows = LARGE_ROWS } };
    add_integers(to, COLUMNS_I64, 1, LARGE_ROWS);
    add_integers(to, COLUMNS_I32, 1000, 1000);
    add_integers(to, COLUMNS_I32, 1, 50);
    add_integers(to, COLUMNS_I8, 3, 4);
    add_numbers(to, 8);
    add_numbers(to, 8);
    add_numbers(to, 2);
    add_numbers(to, 0);
    add_nullable(to);
    columns_column *texts = add_column(to, COLUMNS_TEXT);
    static char words[1000][16];
    for (size_t i = 0; i < 1000; i++)
        snprintf(words[i], sizeof words[i], "plant %zu", i);
    for (size_t i = 0; i < to->table.rows; i++)
        ((const char **)texts->values)[i] = words[i * 7919 % 1000];
}

static void free_columns(bench_table *to)
{
    for (size_t i = 0; i < to->table.column_count; i++) {
        free((void *)to->columns[i].values);
        free((void *)to->columns[i].valid);
    }
}

/* ---- both writers ---------------------------------------------------------------------------- */

static void query(const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    duckdb_result result;

    must(engine_query(&duckdb, &result, sql, MCP_E_IO, &err), &err);
    duckdb.api->destroy_result(&result);
}

/* Every file has a name of its own, as in a simulation, and small ones stay until the end: ext4
 * looks long for an inode where files were removed a moment ago. */
static int file_count;

static const char *name_of(int file)
{
    static char name[32];

    snprintf(name, sizeof name, "%d.parquet", file);
    return name;
}

static void write_ours(const bench_table *table, int file)
{
    mcp_error err = MCP_ERROR_INIT;

    must(columns_write(dir_fd, name_of(file), &table->table, &err), &err);
}

static void write_duckdb(const bench_table *table, int file)
{
    mcp_error err = MCP_ERROR_INIT;
    char sql[200];
    int fd = -1;

    must(guard_create(&fd, dir_fd, "duckdb.parquet.tmp", &err), &err);
    snprintf(sql, sizeof sql,
             "COPY %s TO '/proc/self/fd/%d' (FORMAT parquet, COMPRESSION zstd, "
             "USE_TMP_FILE false)",
             table->name, fd);
    query(sql);
    close(fd);
    must(guard_replace(dir_fd, "duckdb.parquet.tmp", name_of(file), &err), &err);
}

/* Our file, as a table in DuckDB's memory. */
static void load(const bench_table *table)
{
    char sql[200];

    write_ours(table, file_count);
    int fd = openat(dir_fd, name_of(file_count++), O_RDONLY | O_CLOEXEC);
    snprintf(sql, sizeof sql, "CREATE TABLE %s AS FROM read_parquet('/proc/self/fd/%d')",
             table->name, fd);
    query(sql);
    close(fd);
}

/* ---- figures --------------------------------------------------------------------------------- */

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* One way to write a table, and its figures. */
struct way {
    void (*write)(const bench_table *table, int file);
    double ms[ROUNDS]; /* of one file */
    double kilobytes;
};

static void run(struct way *way, int round, const bench_table *table, int files)
{
    struct stat about = { 0 };
    int64_t begin = cpu_ns();

    for (int i = 0; i < files; i++)
        way->write(table, file_count++);
    way->ms[round] = (double)(cpu_ns() - begin) * 1e-6 / files;
    fstatat(dir_fd, name_of(file_count - 1), &about, 0);
    way->kilobytes = (double)about.st_size / 1e3;
    if (files == 1)
        unlinkat(dir_fd, name_of(file_count - 1), 0);
}

static double median(double *figures)
{
    figures_sort(figures, ROUNDS);
    return figures_at(figures, ROUNDS, 0.5);
}

static void measure(const bench_table *table, int files)
{
    struct way ours = { .write = write_ours }, duckdb_copy = { .write = write_duckdb };
    double ratios[ROUNDS];

    load(table);
    for (int i = 0; i < ROUNDS; i++) {
        run(&ours, i, table, files);
        run(&duckdb_copy, i, table, files);
        ratios[i] = duckdb_copy.ms[i] / ours.ms[i];
    }
    double ratio = median(ratios);
    printf("columns %-6s %7zu rows x %2zu  ours %9.3f ms %8.1f kB  DuckDB's COPY %9.3f ms %8.1f kB"
           "  ratio: %.1f x as fast (%.1f to %.1f)\n",
           table->name, table->table.rows, table->table.column_count, median(ours.ms),
           ours.kilobytes, median(duckdb_copy.ms), duckdb_copy.kilobytes, ratio, ratios[0],
           ratios[ROUNDS - 1]);
}

int main(void)
{
    static bench_table small, large;
    mcp_error err = MCP_ERROR_INIT;

    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/bench-columns-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        bench_give_up("columns: no folder for the files");
    dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(engine_open(&duckdb, &err), &err);
    fill_small(&small);
    fill_large(&large);
    measure(&small, SMALL_FILES);
    measure(&large, 1);
    free_columns(&small);
    free_columns(&large);
    engine_close(&duckdb);
    for (int i = 0; i < file_count; i++)
        unlinkat(dir_fd, name_of(i), 0);
    close(dir_fd);
    rmdir(folder);
    return 0;
}

/*
 * casparian-query.c - an aggregate over a million rows of Parquet: by a query of casparian, whose
 * process is ready or has to start, and by DuckDB inside the program, with and without its opening.
 *
 * Two files of half a million rows, of an integer, a number and a text. Each question differs, so
 * none is answered from what is kept. The median of the times on the clock counts. Meaningful in
 * Release, and on a machine that does nothing else.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "columns/columns.h"
#include "columns/sealed/sealed.h"
#include "query/query.h"
#include "support/figures.h"
#include "support/program.h"
#include "support/scale.h"

enum { ROWS = BENCH(500000, 1000), ROUNDS = BENCH(21, 1), FILES = 2, GROUPS = 100 };
enum { PAUSE_MS = BENCH(200, 1) };

static char folder[256];
static char places[FILES][300];

static void must(mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK)
        bench_give_up("casparian-query: %s", err->message);
}

static void write_files(int dir)
{
    int64_t *ids = calloc(ROWS, sizeof *ids);
    double *prices = calloc(ROWS, sizeof *prices);
    const char **words = calloc(ROWS, sizeof *words);
    static char names[GROUPS][32];
    mcp_error err = MCP_ERROR_INIT;

    if (!ids || !prices || !words)
        bench_give_up("casparian-query: no memory");
    for (int i = 0; i < GROUPS; i++)
        snprintf(names[i], sizeof names[i], "symbol-%d", i);
    for (int i = 0; i < ROWS; i++) {
        ids[i] = i;
        prices[i] = (double)(i % 977) / 8.0;
        words[i] = names[i % GROUPS];
    }
    columns_column columns[] = {
        { .name = "id", .type = COLUMNS_I64, .values = ids },
        { .name = "price", .type = COLUMNS_F64, .values = prices },
        { .name = "symbol", .type = COLUMNS_TEXT, .values = words },
    };
    columns_table table = { ROWS, 3, columns };
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.parquet", i);
        snprintf(places[i], sizeof places[i], "%s/%s", folder, name);
        must(columns_write(dir, name, &table, &err), &err);
    }
    free(ids);
    free(prices);
    free(words);
}

static double elapsed_since(int64_t begin)
{
    return (double)(bench_now_ns() - begin) * 1e-6;
}

/* Milliseconds of one query. */
static double ask(casparian_query *query, const casparian_catalog *catalog, int round)
{
    char sql[200];
    casparian_query_result *result = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;
    casparian_query_request request = { .sql = sql };

    request.length = (size_t)snprintf(
        sql, sizeof sql,
        "SELECT symbol, count(*), sum(price) FROM trades WHERE id >= %d "
        "GROUP BY symbol ORDER BY symbol",
        round % 7);
    int64_t begin = bench_now_ns();
    must(casparian_query_run(&result, query, catalog, &request, NULL, arena, &err), &err);
    double elapsed = elapsed_since(begin);
    if (casparian_query_result_facts(result)->row_count != GROUPS)
        bench_give_up("casparian-query: other rows");
    casparian_query_result_free(result);
    mcp_arena_free(arena);
    return elapsed;
}

/* The same by DuckDB in this process. */
static double ask_inside(columns *engine, const int *fds, int round)
{
    char sql[200];
    const columns_table *table = NULL;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;

    snprintf(
        sql, sizeof sql,
        "SELECT symbol, count(*) AS n, sum(price) AS p FROM files WHERE id >= %d GROUP BY symbol "
        "ORDER BY symbol",
        round % 7);
    int64_t begin = bench_now_ns();
    must(columns_query(&table, engine, fds, FILES, sql, NULL, arena, &err), &err);
    double elapsed = elapsed_since(begin);
    mcp_arena_free(arena);
    return elapsed;
}

static void print(const char *what, double times[ROUNDS])
{
    figures_sort(times, ROUNDS);
    printf("  %-42s %6.1f ms (%.1f to %.1f)\n", what, figures_at(times, ROUNDS, 0.5), times[0],
           times[ROUNDS - 1]);
}

static void pause_a_little(void)
{
    struct timespec pause = { 0, PAUSE_MS * 1000000L };
    nanosleep(&pause, NULL);
}

static void measure_queries(const casparian_catalog *catalog)
{
    double ready[ROUNDS];
    double cold[ROUNDS];
    casparian_query *query = NULL;
    mcp_error err = MCP_ERROR_INIT;
    casparian_query_settings settings = { 0 };

    must(casparian_query_open(&query, &settings, &err), &err);
    ask(query, catalog, 0);
    for (int i = 0; i < ROUNDS; i++) {
        pause_a_little(); /* the next process starts meanwhile */
        ready[i] = ask(query, catalog, i);
    }
    casparian_query_close(query);
    for (int i = 0; i < ROUNDS; i++) {
        must(casparian_query_open(&query, &settings, &err), &err);
        cold[i] = ask(query, catalog, i);
        casparian_query_close(query);
    }
    print("a query, its process ready", ready);
    print("a query that starts its process", cold);
}

static void measure_inside(void)
{
    double open_engine[ROUNDS];
    double new_engine[ROUNDS];
    columns *engine = NULL;
    int fds[FILES];
    mcp_error err = MCP_ERROR_INIT;

    for (int i = 0; i < FILES; i++)
        fds[i] = open(places[i], O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < ROUNDS; i++) {
        must(columns_open(&engine, &err), &err);
        new_engine[i] = ask_inside(engine, fds, i);
        open_engine[i] = ask_inside(engine, fds, i);
        columns_close(engine);
    }
    for (int i = 0; i < FILES; i++)
        close(fds[i]);
    print("DuckDB in the process, open", open_engine);
    print("DuckDB in the process, opened for it", new_engine);
}

int main(int argc, char **argv)
{
    const char *place = getenv("TMPDIR");
    casparian_catalog_file files[FILES];
    casparian_catalog catalog = { .version = 1, .files = files, .count = FILES };

    if (argc > 1 && strcmp(argv[1], COLUMNS_SEALED_COMMAND) == 0)
        return columns_sealed_main();
    snprintf(folder, sizeof folder, "%s/bench-casparian-query-XXXXXX", place ? place : "/tmp");
    if (!mkdtemp(folder))
        bench_give_up("casparian-query: no folder %s", folder);
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_files(dir);
    for (int i = 0; i < FILES; i++)
        files[i] = (casparian_catalog_file){ .output = "trades",
                                             .format = "parquet",
                                             .location = places[i],
                                             .schema_hash = "0123456789abcdef",
                                             .job_id = i + 1,
                                             .created_ms = i + 1 };
    printf("casparian-query: groups of %d rows in %d files\n", ROWS * FILES, FILES);
    measure_queries(&catalog);
    measure_inside();
    for (int i = 0; i < FILES; i++)
        unlink(places[i]);
    close(dir);
    rmdir(folder);
    return 0;
}
